/**
 * The NEXMark suite, generator to blackhole: {@code ./millrace bench nexmark}.
 *
 * <p>Entry: {@link dev.millrace.benchmarks.nexmark.NexmarkCommand}. The queries are resources, {@code nexmark/q5.sql} and
 * so on; next to them, in {@code nexmark/duckdb}, is what the oracle is asked. Each query is measured in a process of its
 * own, so that neither memory nor what the JIT learned passes from one to the next.
 */
package dev.millrace.benchmarks.nexmark;
