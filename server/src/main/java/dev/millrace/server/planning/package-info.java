/**
 * From statements to plans, and what is remembered of both.
 *
 * <p>Entry: {@link dev.millrace.server.planning.Plans}; {@link dev.millrace.server.planning.AdHocStatements} shares statements
 * among texts that differ in constants. Safe on any thread. Nothing is run here.
 */
package dev.millrace.server.planning;
