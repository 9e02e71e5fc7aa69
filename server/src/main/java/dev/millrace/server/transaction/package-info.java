/**
 * Changes that are made together: what a transaction holds back until it is committed, and which rows it keeps from others.
 *
 * <p>Entry: {@link dev.millrace.server.transaction.Transactions}, those of one session from BEGIN to COMMIT, for its thread; each
 * is a {@link dev.millrace.server.transaction.Transaction}. {@link
 * dev.millrace.server.transaction.ChangedTable} is a table as a statement changes it, in a transaction or not. Rows are held by
 * their primary keys ({@link dev.millrace.server.transaction.RowLocks}): who wants to change a row that another transaction
 * changed waits for its end, and then looks again, as PostgreSQL does at READ COMMITTED. A table without a key is held as a whole
 * by who deletes or updates rows of it, and by nobody who inserts.
 *
 * <p>Definitions of a transaction are {@link dev.millrace.server.transaction.UncommittedDefinitions} until it ends: which names others do not see,
 * or wait for. What is undone then, or kept, {@code ddl} knows.
 */
package dev.millrace.server.transaction;
