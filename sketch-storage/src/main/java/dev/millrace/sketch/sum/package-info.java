/**
 * Sums that say how far they are off: of doubles in twice their precision, of whole numbers exactly, of squared distances.
 *
 * <p>Entry: {@link dev.millrace.sketch.sum.Sum}, {@link dev.millrace.sketch.sum.WholeSum}, {@link dev.millrace.sketch.sum.Moments}. One
 * thread each. They know nothing of sketches.
 */
package dev.millrace.sketch.sum;
