/**
 * Columns of rows in Arrow memory: the batch, raw access to its buffers, and the pool the buffers come from.
 *
 * <p>Entry: {@link dev.millrace.batch.Batch}. Per-row code goes through {@link dev.millrace.batch.Memory} over addresses
 * taken once per batch; nothing here is called per row except {@code Memory}. A batch is immutable once passed on, so any
 * number of threads may read it while they hold a reference.
 */
package dev.millrace.batch;
