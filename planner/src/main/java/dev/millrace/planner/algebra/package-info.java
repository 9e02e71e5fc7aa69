/**
 * Relational algebra to plans, node by node and without cleverness: what the algebra says, in the words of {@link
 * dev.millrace.plan.node.PlanNode}. All rewriting comes after, on plans.
 *
 * <p>Entry: {@link dev.millrace.planner.algebra.Translation}. The only package of the planner that sees Calcite's
 * nodes. What cannot be planned is refused here (0A000), with the nearest thing that works.
 */
package dev.millrace.planner.algebra;
