/**
 * How many rows a plan's nodes give, as far as that can be told without running it.
 *
 * <p>Entry: {@link dev.millrace.planner.estimate.Cardinality}. What is known of relations comes in by {@link
 * dev.millrace.planner.estimate.RelationStatistics}; whoever plans keeps it. Estimates decide between plans of the same rows,
 * never what the rows are.
 */
package dev.millrace.planner.estimate;
