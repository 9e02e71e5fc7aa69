/**
 * Small sketches of the values of columns, for those who choose between plans. Entry: {@link
 * dev.millrace.engine.statistic.ColumnSketch}. It knows nothing of where rows come from and when a sketch is old.
 */
package dev.millrace.engine.statistic;
