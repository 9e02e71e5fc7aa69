/**
 * JMH benchmarks of single operators over batches that are already there: filter, projection, hash aggregation, text
 * keys, slices.
 *
 * <p>Entry: {@link dev.millrace.benchmarks.kernels.KernelsCommand}, {@code ./millrace bench kernels}. Figures are
 * nanoseconds per row of one thread.
 */
package dev.millrace.benchmarks.kernels;
