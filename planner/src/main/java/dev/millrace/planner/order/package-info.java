/**
 * In which order relations are joined.
 *
 * <p>Entry: {@link dev.millrace.planner.order.JoinOrder}, on a plan as it was translated. {@link
 * dev.millrace.planner.order.JoinGraph} is what is joined under which conditions, {@link dev.millrace.planner.order.JoinSizes}
 * how much each part of it gives, {@link dev.millrace.planner.order.JoinEnumeration} the search, {@link
 * dev.millrace.planner.order.JoinTree} its result. Where nothing is known of sizes the order written stays, see {@code
 * algebra}.
 */
package dev.millrace.planner.order;
