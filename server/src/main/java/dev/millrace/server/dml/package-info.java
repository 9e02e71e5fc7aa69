/**
 * Statements that change rows: INSERT, UPDATE, DELETE, MERGE, TRUNCATE, COPY FROM, and WITH around them.
 *
 * <p>Entry: {@link dev.millrace.server.dml.Writes}; {@link dev.millrace.server.dml.PreparedChanges} for those that come again
 * with other values. All is computed and checked before the first row is written, in one epoch or into a transaction. One
 * session's, for its thread.
 */
package dev.millrace.server.dml;
