/**
 * Runs plans: standing queries and pull queries, their tasks, epochs and results.
 *
 * <p>Entry: {@link dev.millrace.engine.runtime.Engine}. A plan becomes a graph of operators, the graph is cut at exchanges
 * into tasks, and the workers of {@code dev.millrace.scheduler} run those. Threads: the workers, one timer, and callers.
 */
package dev.millrace.engine.runtime;
