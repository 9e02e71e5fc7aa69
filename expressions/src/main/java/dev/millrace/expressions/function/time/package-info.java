/**
 * Functions of dates, times and intervals: fields, truncation, time zones, and times as text by templates.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.time.Timestamps}, {@link
 * dev.millrace.expressions.function.time.Intervals}; generated code calls them. Objects belong to one thread.
 */
package dev.millrace.expressions.function.time;
