/**
 * Rows that the server makes itself: answers of SHOW, system relations, what INSERT and UPDATE write.
 *
 * <p>Entries: {@link dev.millrace.server.rows.RowBuilder} from Java values, {@link dev.millrace.server.rows.RowCopier} from
 * rows of other batches. For tens or thousands of rows; what flows in bulk is the engine's business. One thread each.
 */
package dev.millrace.server.rows;
