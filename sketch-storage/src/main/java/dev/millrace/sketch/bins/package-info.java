/**
 * From values to bins and back (dissertation §6.2.1): what a bin's number stands for, and how values are put into bins so
 * that every one of them comes back within its bound.
 *
 * <p>Entry: {@link dev.millrace.sketch.bins.Scale} (from a bin's number to its value) and {@link
 * dev.millrace.sketch.bins.GridBins}; the paper's own bins are {@link dev.millrace.sketch.bins.ProbabilityBins}, filled by
 * {@link dev.millrace.sketch.bins.AdaptiveDiscretiser}. Scales are immutable; discretisers belong to one thread.
 */
package dev.millrace.sketch.bins;
