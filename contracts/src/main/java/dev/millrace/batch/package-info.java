/**
 * Columns of rows in Arrow memory: the batch, and how its vectors are made, copied and given back.
 *
 * <p>Entry: {@link dev.millrace.batch.Batch}. Per-row code goes through {@link dev.millrace.memory.Memory} over addresses
 * taken once per batch; nothing here is called per row. A batch is immutable once passed on, so any number of threads may
 * read it while they hold a reference.
 */
package dev.millrace.batch;
