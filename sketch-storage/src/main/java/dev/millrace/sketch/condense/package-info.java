/**
 * Rows of sketches for whoever counts rows and does not look at their order: those that are alike once, with their number as weight.
 *
 * <p>Entry: {@link dev.millrace.sketch.condense.CondensedRows}. One thread. It costs as much as there are combinations of values between two times, or
 * runs where combinations are too many to be counted, and neither filters nor aggregates: that is done by whoever takes the batches.
 */
package dev.millrace.sketch.condense;
