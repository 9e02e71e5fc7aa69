/**
 * What Prometheus may ask: counters of queries, operators and streams, memory, sessions, and the JVM's.
 *
 * <p>Entry: {@link dev.millrace.server.metrics.DatabaseMetrics}, one per server. Computed when it is asked for, from the same
 * statistics as the relations of the schema {@code millrace}; nothing is counted twice. Safe on any thread.
 */
package dev.millrace.server.metrics;
