/**
 * Values as PostgreSQL's protocol carries them: type ids, and text and binary forms in both directions.
 *
 * <p>Entries: {@link dev.millrace.server.pgwire.value.RowEncoder} writes batches as DataRow messages,
 * {@link dev.millrace.server.pgwire.value.BinaryParameter} reads what clients bind, and
 * {@link dev.millrace.server.pgwire.value.PgType} says which type is which. Nothing here knows connections or sessions. One
 * thread each; no object per value.
 */
package dev.millrace.server.pgwire.value;
