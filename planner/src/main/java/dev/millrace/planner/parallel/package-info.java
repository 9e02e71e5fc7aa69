/**
 * Work for more than one task: exchanges, and aggregations in two phases.
 *
 * <p>Entry: {@link dev.millrace.planner.parallel.Parallelism}, the last rewrite of a plan. It goes from the leaves up and
 * knows of each node how its rows are spread over tasks ({@link dev.millrace.planner.parallel.Spread}); where an
 * operator needs them together it puts an exchange, and before the exchange whatever makes it cheaper.
 */
package dev.millrace.planner.parallel;
