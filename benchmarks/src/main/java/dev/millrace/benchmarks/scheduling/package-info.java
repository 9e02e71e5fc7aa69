/**
 * Whose turn it is: what a decision costs, what policies make of simulated machines, and how old answers are in the engine under each.
 *
 * <p>Entries: {@link dev.millrace.benchmarks.scheduling.TurnsCommand} ({@code ./millrace bench turns}),
 * {@link dev.millrace.benchmarks.scheduling.KlinkCommand}, {@link dev.millrace.benchmarks.scheduling.EdgeWiseCommand} and
 * {@link dev.millrace.benchmarks.scheduling.GroupsCommand}, which simulate and measure nothing of this machine: the same seed gives the same lines anywhere;
 * and {@link dev.millrace.benchmarks.scheduling.PoliciesCommand} ({@code ./millrace bench policies}).
 */
package dev.millrace.benchmarks.scheduling;
