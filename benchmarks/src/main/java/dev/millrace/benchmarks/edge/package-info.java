/** The agent as a process, measured from outside. Entry: {@link dev.millrace.benchmarks.edge.EdgeBenchCommand}. */
package dev.millrace.benchmarks.edge;
