/**
 * Whose turn it is: tasks, the policies that choose among them, the workers that run them, and timers.
 *
 * <p>Entry: {@link dev.millrace.scheduler.Workers}. Tasks are opaque here: nothing knows plans or batches. The algorithm is
 * the single-threaded {@link dev.millrace.scheduler.RunQueue}; {@link dev.millrace.scheduler.WorkerThreads} wraps threads
 * around it (Neptune's second tier, dissertation ch. 4: a fixed pool, and no other thread but one for timers),
 * {@link dev.millrace.scheduler.SteppedWorkers} a test that says when to step.
 *
 * <p><b>The contract of policies.</b> A {@link dev.millrace.scheduler.RankingPolicy} gives each task a number when it becomes runnable, a
 * {@link dev.millrace.scheduler.LotteryPolicy} draws. Both are pure functions of {@link dev.millrace.scheduler.TaskStatistics}: what they
 * go by is counted by the tasks themselves ({@link dev.millrace.scheduler.Workload}), by the queue (times of runs and waits), and for
 * windows by {@link dev.millrace.scheduler.SweepingWatermarks}. So a decision takes O(log n) among n runnable tasks, and no time for those
 * that are not. A rank that goes by what changes while a task waits says after how long it is to be asked for again; few are at each decision, and
 * never all ({@link dev.millrace.scheduler.ReadyTasks} has what is promised, also to those whose rank is worst).
 *
 * <p>Before ranks come: tasks in the background, which wait while there are others, but not for long, and leave one of several workers to these; and priorities.
 */
package dev.millrace.scheduler;
