/**
 * Rows as Java objects, for tests: building batches from them, reading batches back, and comparing multisets of them.
 *
 * <p>Entry: {@link dev.millrace.testing.rows.TestBatches}. Slow and plain on purpose.
 */
package dev.millrace.testing.rows;
