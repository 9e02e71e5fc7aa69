/**
 * Queries as chains of operators, sources whose rows and watermarks come late, and workers, all in virtual time: what policies make of a
 * machine that is not there. The policies and the run queue are the engine's own.
 *
 * <p>Entry: {@link dev.millrace.scheduler.simulation.Simulation}. One thread; the same seed gives the same figures. It is no model of
 * threads, caches or locks: what a decision costs is measured, by {@code ./millrace bench turns}, and not simulated.
 *
 * <pre>
 *   source: rows of each tick, a watermark each so often, both after a delay that is drawn
 *      |      while memory is full they wait outside (backpressure)
 *   operator -> operator -> window -> .. -> end     each with a queue, a cost and rows out for one in; a window gives its rows
 *                                                   when a watermark passes its end
 * </pre>
 *
 * <p>{@link dev.millrace.scheduler.simulation.GroupSimulation} is another machine: workers that have groups of queries each for itself, as Pluto's, to
 * see what moving them is worth.
 */
package dev.millrace.scheduler.simulation;
