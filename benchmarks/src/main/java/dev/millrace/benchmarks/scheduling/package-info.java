/**
 * Whose turn it is: what a decision costs, and what policies make of simulated machines.
 *
 * <p>Entries: {@link dev.millrace.benchmarks.scheduling.TurnsCommand} ({@code ./millrace bench turns}),
 * {@link dev.millrace.benchmarks.scheduling.KlinkCommand}, {@link dev.millrace.benchmarks.scheduling.EdgeWiseCommand} and
 * {@link dev.millrace.benchmarks.scheduling.GroupsCommand}. The last three simulate and measure nothing of this machine: the same seed gives the same lines anywhere.
 */
package dev.millrace.benchmarks.scheduling;
