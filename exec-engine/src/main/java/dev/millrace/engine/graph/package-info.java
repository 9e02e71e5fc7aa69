/**
 * A plan as the graph of operators that tasks are made of: which nodes are one, where it is cut into pipelines, and what tells two
 * plans apart.
 *
 * <p>Entry: {@link dev.millrace.engine.graph.PlanGraph}. Pure functions of a plan; no operator and no task is made here.
 */
package dev.millrace.engine.graph;
