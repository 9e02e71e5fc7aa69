package dev.millrace.scheduler;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The policies by name. */
public final class SchedulingPolicies {
    private static final double PRECISION =
            1L << 40; // ranks are whole numbers: of what is a rate, so many parts of one
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    private static final Map<String, SchedulingPolicy> BY_NAME = new TreeMap<>(Map.of(
            "fcfs", (RankingPolicy) (now, memory, task) -> task.readySinceNanos(),
            "round_robin", (RankingPolicy) (now, memory, task) -> task.lastRunNanos(),
            "random", (LotteryPolicy) SchedulingPolicies::any,
            "highest_rate", (RankingPolicy) SchedulingPolicies::highestRate,
            "streambox", (RankingPolicy) SchedulingPolicies::streamBox,
            "min_latency", (RankingPolicy) (now, memory, task) -> Path.length(task),
            "min_memory", (RankingPolicy) (now, memory, task) -> (long) (-PRECISION * Path.steepest(task)),
            "edgewise", EdgeWise.ALL,
            "edgewise_half", EdgeWise.HALF,
            "klink", Klink.LEAST_SLACK));

    static {
        BY_NAME.put("edgewise_50", EdgeWise.AT_MOST_50);
        BY_NAME.put("klink_shortest", Klink.SHORTEST_DUE);
    }

    private SchedulingPolicies() {}

    /** @throws MillraceException naming the policies there are */
    public static SchedulingPolicy named(String name) {
        SchedulingPolicy policy = BY_NAME.get(name);
        if (policy == null) {
            MillraceException unknown = MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "scheduling policy \"" + name + "\" does not exist; there are " + String.join(", ", names()));
            throw Suggestion.nearest(name, names())
                    .map(near -> unknown.withHint("did you mean \"" + near + "\"?"))
                    .orElse(unknown);
        }
        return policy;
    }

    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /** By the bits of the moment: what waits in a channel waits for a random time, which is what tests of consistency want. */
    private static int any(long nowNanos, int ready) {
        long mixed = nowNanos * GOLDEN_SECTION;
        return (int) Long.remainderUnsigned(mixed ^ mixed >>> 32, ready);
    }

    /** Most rows at the end for the time that they take (Sharaf et al., as Klink's section 6.1.3 has it). */
    private static long highestRate(long nowNanos, double memoryShare, TaskStatistics task) {
        return (long) (-PRECISION * Path.selectivity(task) / Path.rowNanos(task));
    }

    /** Whose window ends first (StreamBox, as Klink's section 6.1.3 has it); without windows, whose rows came first. */
    private static long streamBox(long nowNanos, double memoryShare, TaskStatistics task) {
        return task.progress()
                .filter(WindowProgress::isKnown)
                .map(WindowProgress::deadlineNanos)
                .orElseGet(task::readySinceNanos);
    }
}
