/** How long one waits. Entry: {@link dev.millrace.benchmarks.latency.LatencyCommand}, {@code ./millrace bench latency}. */
package dev.millrace.benchmarks.latency;
