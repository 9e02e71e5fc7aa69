package dev.millrace.scheduler;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The policies by name. */
public final class SchedulingPolicies {
    private static final Map<String, SchedulingPolicy> BY_NAME = new TreeMap<>(
            Map.of("fcfs", new FirstComeFirstServed(), "random", new AnyTask(), "round_robin", new RoundRobin()));

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
}
