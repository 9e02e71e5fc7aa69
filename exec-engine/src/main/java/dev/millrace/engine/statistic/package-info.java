/**
 * What is counted: of queries and their operators, subscribers, watermarks and late rows, by those who run them; and small
 * sketches of the values of columns, for those who choose between plans. And whether a query runs, and why not.
 *
 * <p>Entry: {@link dev.millrace.engine.statistic.QueryStatistics}, {@link dev.millrace.engine.statistic.LateRowLog}, {@link
 * dev.millrace.engine.statistic.ColumnSketch}. What counts is written by one thread at a time and read by any. It knows
 * nothing of where rows come from and when a sketch is old.
 */
package dev.millrace.engine.statistic;
