/**
 * Rows to and from databases that have a JDBC driver.
 *
 * <p>Entry: {@link dev.millrace.connectors.jdbc.JdbcSinkFactory}. A sink holds the changes of an epoch as bytes ({@link
 * dev.millrace.connectors.jdbc.RowBytes}) until it ends; then one transaction of the database has them all ({@link
 * dev.millrace.connectors.jdbc.JdbcWriter}), tried again until the database takes it. What differs between databases is in {@link
 * dev.millrace.connectors.jdbc.Dialect} and {@link dev.millrace.connectors.jdbc.DatabaseFailure}. Drivers are those on the class path; none is
 * named at compile time.
 *
 * <pre>
 *   rows -> RowBytes -> (by key: UpsertEpoch) -> end of the epoch -> JdbcWriter: deletes, upserts, commit
 * </pre>
 */
package dev.millrace.connectors.jdbc;
