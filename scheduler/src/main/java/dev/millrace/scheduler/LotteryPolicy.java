package dev.millrace.scheduler;

/** Draws one of the runnable tasks, whatever is known of them: each decision may be any one's. */
@FunctionalInterface
public non-sealed interface LotteryPolicy extends SchedulingPolicy {
    /**
     * Called with the run queue's lock held: to be quick.
     *
     * @param ready how many are runnable, at least one
     * @return from 0 to below {@code ready}, in no order that means something
     */
    int draw(long nowNanos, int ready);
}
