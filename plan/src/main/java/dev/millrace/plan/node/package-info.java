/**
 * The physical plan: what the engine runs.
 *
 * <p>Entry: {@link dev.millrace.plan.node.PlanNode}. Nodes are immutable records; a plan is a DAG in which a shared
 * subplan is one node used twice (compare with equals). Every node knows its output schema. Batches between nodes may
 * carry weights (Z-sets) unless the node says append-only.
 */
package dev.millrace.plan.node;
