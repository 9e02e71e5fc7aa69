/**
 * Whose turn it is: tasks, the policies that choose among them, the workers that run them, and timers.
 *
 * <p>Entry: {@link dev.millrace.scheduler.Workers}. Tasks are opaque here: nothing knows plans or batches. The algorithm is
 * the single-threaded {@link dev.millrace.scheduler.RunQueue}; {@link dev.millrace.scheduler.WorkerThreads} wraps threads
 * around it (Neptune's second tier, dissertation ch. 4: a fixed pool, and no other thread but one for timers),
 * {@link dev.millrace.scheduler.SteppedWorkers} a test that says when to step.
 */
package dev.millrace.scheduler;
