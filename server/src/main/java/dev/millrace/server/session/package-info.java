/**
 * The database as programs use it: open it, make sessions, execute statements.
 *
 * <p>Entries: {@link dev.millrace.server.session.Database}, safe on any thread; {@link
 * dev.millrace.server.session.Session}, for one thread at a time but for its {@code cancel}. The wire protocol, the shell and
 * JDBC all sit on a session. Here is how a session begins, ends, is watched and stopped, and {@code Execution}, which says what
 * does a statement: {@code server.ddl}, {@code server.dml}, {@code server.query}, {@code server.transaction}, {@code
 * server.permission} or {@code server.system}.
 */
package dev.millrace.server.session;
