/**
 * Columns of rows in Arrow memory: the batch, how its vectors are made, copied and given back, which vector a type has, and
 * nested values taken out of vectors as images.
 *
 * <p>Entry: {@link dev.millrace.batch.Batch}. Per-row code goes through {@link dev.millrace.memory.Memory} over addresses
 * taken once per batch; only nested values are copied one by one. A batch is immutable once passed on, so any number of
 * threads may read it while they hold a reference.
 */
package dev.millrace.batch;
