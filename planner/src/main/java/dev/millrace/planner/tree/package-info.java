/**
 * Building, walking and rewriting plans and expressions.
 *
 * <p>Entry: {@link dev.millrace.planner.tree.Rewriter} applies {@link dev.millrace.planner.tree.Rewrite}s until none
 * fires; {@link dev.millrace.planner.tree.Nodes} makes nodes whose schema follows from their parts; {@link
 * dev.millrace.planner.tree.NodeVisitor} is for passes that must know every kind of node. Pure functions of immutable
 * values, on any thread. No rule about what a plan should be lives here.
 */
package dev.millrace.planner.tree;
