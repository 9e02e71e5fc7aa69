/**
 * Statements that change the catalog: CREATE, ALTER, DROP, PAUSE and RESUME of all but roles.
 *
 * <p>Entry: {@link dev.millrace.server.ddl.Definitions}. Each takes effect as a whole or not at all, one at a time, under the
 * lock of definitions. One session's, for its thread. In a transaction each says by {@link dev.millrace.server.ddl.HeldDefinitions} how it is
 * undone, and what is left to do when it stays.
 */
package dev.millrace.server.ddl;
