package dev.millrace.scheduler;

/**
 * Says which of the runnable tasks runs next. A pure function of what is known of them: it keeps nothing between calls, so that
 * it can be changed while tasks run, and is the same in the simulator as in the engine.
 */
public sealed interface SchedulingPolicy permits RankingPolicy, LotteryPolicy {}
