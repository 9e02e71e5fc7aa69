/**
 * Rows that are found by an index, on the thread that asks, without a task.
 *
 * <p>{@link dev.millrace.server.lookup.KeyPlan} and {@link dev.millrace.server.lookup.RangePlan} say how a query is answered
 * so, {@link dev.millrace.server.lookup.KeyRows} and {@link dev.millrace.server.lookup.RangeRows} do it, for the values that
 * {@link dev.millrace.server.lookup.GivenValues} has for parameters. Belongs to the session's thread. What cannot be answered here
 * is left to who asks, errors included.
 */
package dev.millrace.server.lookup;
