/** How soon a database is back after its process was killed. Entry: {@link dev.millrace.benchmarks.restart.RestartCommand}. */
package dev.millrace.benchmarks.restart;
