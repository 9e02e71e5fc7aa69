/**
 * The database as programs use it: open it, make sessions, execute statements.
 *
 * <p>Entries: {@link dev.millrace.server.session.Database}, safe on any thread; {@link
 * dev.millrace.server.session.Session}, for one thread at a time but for its {@code cancel}. The wire protocol, the shell and
 * JDBC all sit on a session. What a statement does is in one class per group of statements: {@code Definitions} (CREATE,
 * DROP, PAUSE), {@code Queries} (SELECT, SUBSCRIBE, EXPLAIN), {@code Writes} (INSERT, UPDATE, DELETE), {@code Inspection}
 * (SHOW, DESCRIBE), {@code Transactions} (BEGIN to COMMIT), {@code Cursors} (DECLARE, FETCH), {@code RoleStatements} (roles, GRANT).
 * Who may do what is asked in {@code Permissions}, once per statement.
 */
package dev.millrace.server.session;
