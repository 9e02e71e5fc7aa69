/**
 * What the measuring process has used: time, processors, memory. Entry:
 * {@link dev.millrace.benchmarks.process.ProcessClock}.
 */
package dev.millrace.benchmarks.process;
