package dev.millrace.edge.stream;

import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.program.Partials;
import dev.millrace.edge.program.WindowGroups;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The windows that queries have a device make. Every row counts in all of them, whether it is sent besides or not; those that are sent say in which they count
 * ({@link #mark}). Of one thread.
 *
 * <p>Partial aggregates go with a commit: of windows that have ended by the device's own event time; all, when no row came for a segment's length by the clock, when
 * they have more memory than they may, and when other settings come. What stays open is in that commit, too.
 */
public final class EdgeWindows {
    /** The column of segments that says in which windows their rows count already: the programs' ids, with a blank between two. */
    public static final String MARK = "$windows";

    private static final long MOST_BYTES = 512 << 10; // of the heap, of all programs

    private final StreamRow values;
    private final List<WindowGroups> windows = new ArrayList<>();
    private final Set<String> gone = new TreeSet<>(); // programs that do not run any more
    private final List<byte[]> taken = new ArrayList<>(); // partials that are not in the queue yet
    private final long mostSilentNanos;
    private boolean changed; // since the last commit
    private long lastNanos; // when the last row came

    /**
     * Without any open groups.
     *
     * @throws MillraceException 42804 if columns are others than a program says, 42701 if the device has a column of the mark's name
     */
    EdgeWindows(StreamConfig stream, SketchSettings settings, StreamRow values) {
        this.values = values;
        this.mostSilentNanos = settings.segmentMicros() * 1000;
        for (WindowProgram program : settings.rows().made()) {
            WindowGroups groups = new WindowGroups(program, StreamRow.schema(stream));
            groups.requireTime(
                    StreamRow.schema(stream),
                    stream.time().orElse(stream.columns().size()));
            windows.add(groups);
        }
        if (!windows.isEmpty() && stream.columns().indexOf(MARK) >= 0) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_COLUMN, "a device that makes windows has no column \"" + MARK + "\" of its own");
        }
    }

    /** Goes on with what was open; what is of programs that do not run goes with the next commit. */
    void restore(Map<String, byte[]> open, long nowNanos) {
        Map<String, WindowGroups> byId = new HashMap<>();
        windows.forEach(groups -> byId.put(groups.program().id(), groups));
        open.forEach((id, state) -> {
            WindowGroups groups = byId.get(id);
            if (groups == null) {
                gone.add(id);
                taken.add(state);
            } else {
                groups.restore(state);
            }
        });
        lastNanos = nowNanos;
        changed = !gone.isEmpty();
    }

    boolean any() {
        return !windows.isEmpty();
    }

    /** The programs' ids, with a blank between two. */
    String mark() {
        return windows.stream().map(groups -> groups.program().id()).collect(Collectors.joining(" "));
    }

    void take(int row, long timeMicros, long nowNanos) {
        for (WindowGroups groups : windows) {
            groups.add(values, row, timeMicros);
        }
        changed = true;
        lastNanos = nowNanos;
    }

    /** Adds what goes now, and what is open. */
    void addTo(EdgeQueue.Commit commit, long nowNanos) {
        boolean isSilent = nowNanos - lastNanos >= mostSilentNanos;
        if (changed || isSilent) {
            add(commit, isSilent || isFull());
        }
    }

    /** Whether more is open than may be. */
    boolean isFull() {
        return windows.stream().mapToLong(WindowGroups::bytes).sum() > MOST_BYTES;
    }

    /** Adds all. */
    void addAllTo(EdgeQueue.Commit commit) {
        add(commit, true);
    }

    private void add(EdgeQueue.Commit commit, boolean all) {
        gone.forEach(id -> commit.groups(id, new byte[0]));
        for (WindowGroups groups : windows) {
            (all ? groups.takeAll() : groups.takeEnded()).ifPresent(taken::add);
            commit.groups(groups.program().id(), groups.state());
        }
        taken.forEach(bytes -> partials(commit, bytes));
    }

    private static void partials(EdgeQueue.Commit commit, byte[] bytes) {
        Partials.Head head = Partials.head(bytes);
        commit.partials(head.rows(), head.latestMicros(), bytes);
    }

    /** What was added is on disk. */
    void committed() {
        gone.clear();
        taken.clear();
        changed = false;
    }
}
