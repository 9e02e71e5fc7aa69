/**
 * What statements give: rows, changes, a number of rows, each read by who asked.
 *
 * <p>Entry: {@link dev.millrace.server.result.StatementResult}. Belongs to the session's thread; the reader closes it.
 */
package dev.millrace.server.result;
