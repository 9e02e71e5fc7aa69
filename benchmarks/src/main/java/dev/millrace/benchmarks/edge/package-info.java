/** The agent as a process, measured from outside. Entry: {@link dev.millrace.benchmarks.edge.EdgeCommand}. */
package dev.millrace.benchmarks.edge;
