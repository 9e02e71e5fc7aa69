/**
 * Suites of queries that one can read, measured, and compared with DuckDB: {@code ./millrace bench nexmark}, {@code ysb},
 * {@code linear-road}, {@code riotbench}, {@code pluto}.
 *
 * <p>Entry: {@link dev.millrace.benchmarks.suite.SuiteCommand}; {@link dev.millrace.benchmarks.suite.Suite} says what a
 * suite's folder in the resources holds. Each query is measured in a process of its own, so that neither memory nor what the
 * JIT learned passes from one to the next. Two checks compare with the oracle: {@code EndCheck} at the end of bounded streams,
 * {@code EpochCheck} at random epochs in between.
 */
package dev.millrace.benchmarks.suite;
