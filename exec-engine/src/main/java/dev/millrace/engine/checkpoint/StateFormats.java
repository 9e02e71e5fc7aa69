package dev.millrace.engine.checkpoint;

import dev.millrace.operator.StateFormat;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The formats in which this release writes the states of all operators, and which alone it reads. A query whose state a checkpoint
 * has in another begins anew.
 *
 * <p>The bytes of each are kept as a fixture ({@code src/test/resources/state}), which the test of its operator reads. Who changes
 * them, be it by what all states share (rows, keys), raises the versions concerned.
 */
public final class StateFormats {
    private static final Map<String, StateFormat> ALL = new LinkedHashMap<>();
    private static final Set<StateFormat> CHANGES = new HashSet<>();

    public static final StateFormat GROUPS = format("groups", 1);
    public static final StateFormat DISTINCT_GROUPS = format("distinct_groups", 1);
    public static final StateFormat SLICES = format("slices", 1);
    public static final StateFormat SESSIONS = format("sessions", 1);
    public static final StateFormat EXTREMES = format("extremes", 1);
    public static final StateFormat HELD = format("held", 1);
    public static final StateFormat DUE = format("due", 1);
    public static final StateFormat CLOCK = format("clock", 1);
    public static final StateFormat OVER = format("over", 1);
    public static final StateFormat LAST_SEEN = format("last_seen", 1);
    public static final StateFormat ROW_VERSIONS = format("row_versions", 1);
    public static final StateFormat WATERMARK = format("watermark", 1);
    public static final StateFormat MATCHED = format("matched", 1);
    public static final StateFormat FEW_BEST = format("few_best", 1);
    public static final StateFormat BEST = format("best", 1);
    public static final StateFormat RANKED = format("ranked", 1);
    public static final StateFormat RANKED_WINDOWS = format("ranked_windows", 1);
    public static final StateFormat SORTED = format("sorted", 1);
    public static final StateFormat JOIN = format("join", 1);
    public static final StateFormat APPENDED_JOIN = format("appended_join", 1);
    public static final StateFormat EXISTENCE = format("existence", 1);
    public static final StateFormat CURRENT_JOIN = format("current_join", 1);
    public static final StateFormat NEAREST_JOIN = format("nearest_join", 2);
    public static final StateFormat MULTI_JOIN = format("multi_join", 1);
    public static final StateFormat SHARED_JOIN = format("shared_join", 1);
    public static final StateFormat SHARED_JOIN_PACKED = format("shared_join_packed", 1);
    public static final StateFormat MEMBERS = format("members", 1);

    public static final StateFormat GROUPS_SINCE = changes("groups_since", 1);
    public static final StateFormat DISTINCT_GROUPS_SINCE = changes("distinct_groups_since", 1);
    public static final StateFormat FEW_BEST_SINCE = changes("few_best_since", 1);
    public static final StateFormat BEST_SINCE = changes("best_since", 1);
    public static final StateFormat LAST_SEEN_SINCE = changes("last_seen_since", 1);
    public static final StateFormat JOIN_SINCE = changes("join_since", 1);
    public static final StateFormat APPENDED_JOIN_SINCE = changes("appended_join_since", 1);

    private StateFormats() {}

    private static StateFormat format(String name, int version) {
        StateFormat format = new StateFormat(name, version);
        if (ALL.put(name, format) != null) {
            throw new IllegalStateException("two states are called \"" + name + "\"");
        }
        return format;
    }

    /** One of what changed of a state, which is elsewhere. */
    private static StateFormat changes(String name, int version) {
        StateFormat format = format(name, version);
        CHANGES.add(format);
        return format;
    }

    /** Whether it is of what changed of a state, and is read behind that. */
    public static boolean isOfChanges(StateFormat format) {
        return CHANGES.contains(format);
    }

    public static Collection<StateFormat> all() {
        return ALL.values();
    }

    /** Why a state cannot be read; empty if it can. */
    public static Optional<String> whyUnreadable(StateFormat written) {
        StateFormat read = ALL.get(written.name());
        if (read == null) {
            return Optional.of("this release knows no state \"" + written.name() + "\"");
        }
        return read.equals(written)
                ? Optional.empty()
                : Optional.of("its state \"" + written.name() + "\" has format " + written.version()
                        + ", this release reads " + read.version());
    }
}
