/**
 * How long one waits. Entries: {@link dev.millrace.benchmarks.latency.LatencyCommand}, {@code ./millrace bench latency};
 * {@link dev.millrace.benchmarks.latency.NeighboursCommand}, {@code ./millrace bench neighbours}.
 */
package dev.millrace.benchmarks.latency;
