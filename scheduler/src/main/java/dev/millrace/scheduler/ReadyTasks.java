package dev.millrace.scheduler;

import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runnable tasks, by a policy. Each call takes O(log n), with a lottery O(1).
 *
 * <p>A rank is given when a task becomes runnable. Of a policy whose ranks grow old each decision renews some, those given longest ago first:
 * among n tasks none counts that is older than a cycle (Klink's r) and n / {@value #RENEWED} decisions, and no decision stops to
 * look at all.
 *
 * <p>Under a ranking some tasks might wait for ever. So one decision of {@value #OLDEST_ONE_IN} is that of the task which has waited
 * longest, once it has waited for {@link #MOST_WAIT_NANOS}: a task with k before it runs after so long and {@value
 * #OLDEST_ONE_IN} (k + 1) decisions at the latest, and of the decisions the policy has the others even when all are late.
 */
final class ReadyTasks {
    static final long MOST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final int OLDEST_ONE_IN = 16;
    static final int RENEWED = 8;

    private final SchedulingPolicy policy;
    private final DoubleSupplier memoryShare;
    private final Order order;
    private final PlaceList arrivals = new PlaceList();
    private final PlaceList rankings = new PlaceList();
    private long arrived;
    private int decisions; // since one was that of the oldest

    ReadyTasks(SchedulingPolicy policy, DoubleSupplier memoryShare) {
        this.policy = policy;
        this.memoryShare = memoryShare;
        this.order = policy instanceof LotteryPolicy lottery ? new DrawnOrder(lottery) : new RankHeap();
    }

    int size() {
        return order.size();
    }

    /** The one that has waited longest. */
    @Nullable ScheduledTask oldest() {
        Place first = arrivals.first();
        return first == null ? null : first.task;
    }

    void add(ScheduledTask task, long nowNanos) {
        Place place = task.place;
        place.number = arrived++;
        place.priority = task.priority();
        if (policy instanceof RankingPolicy ranking) {
            rank(place, ranking, nowNanos);
            rankings.add(place.ranking);
        }
        order.add(place);
        arrivals.add(place.arrival);
    }

    void remove(ScheduledTask task) {
        Place place = task.place;
        order.remove(place);
        arrivals.remove(place.arrival);
        if (policy instanceof RankingPolicy) {
            rankings.remove(place.ranking);
        }
    }

    /** Takes out whose turn it is; one at least is there. */
    ScheduledTask take(long nowNanos) {
        if (policy instanceof RankingPolicy ranking && ranking.cycleNanos() != RankingPolicy.FOR_GOOD) {
            renew(ranking, nowNanos);
        }
        ScheduledTask task = order.next(nowNanos).task;
        ScheduledTask oldest = oldest();
        decisions++;
        if (order instanceof RankHeap
                && decisions >= OLDEST_ONE_IN
                && oldest != null
                && nowNanos - oldest.readySinceNanos() >= MOST_WAIT_NANOS) {
            task = oldest;
            decisions = 0;
        }
        remove(task);
        return task;
    }

    private void renew(RankingPolicy ranking, long nowNanos) {
        for (int i = 0; i < RENEWED; i++) {
            Place place = rankings.first();
            if (place == null || nowNanos - place.rankedNanos < ranking.cycleNanos()) {
                return;
            }
            rank(place, ranking, nowNanos);
            rankings.remove(place.ranking);
            rankings.add(place.ranking);
            ((RankHeap) order).moved(place);
        }
    }

    private void rank(Place place, RankingPolicy ranking, long nowNanos) {
        place.rank = ranking.rank(nowNanos, memoryShare.getAsDouble(), place.task);
        place.rankedNanos = nowNanos;
    }
}
