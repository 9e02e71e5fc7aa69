package dev.millrace.planner.reference;

import dev.millrace.plan.node.WindowSpec;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Which windows a row falls into. */
final class Windows {
    /** Start inclusive, end exclusive, microseconds. */
    record Window(long start, long end) {
        List<Object> columns() {
            return List.of(Scalars.plain(start), Scalars.plain(end));
        }
    }

    private Windows() {}

    static List<Window> of(WindowSpec spec, int timeColumn, List<Object> row) {
        if (spec instanceof WindowSpec.Attached attached) {
            return List.of(new Window(micros(row.get(attached.startColumn())), micros(row.get(attached.endColumn()))));
        }
        if (row.get(timeColumn) == null) {
            return List.of();
        }
        long time = micros(row.get(timeColumn));
        List<Window> windows = new ArrayList<>();
        if (spec instanceof WindowSpec.Tumble tumble) {
            long start = floor(time - tumble.offsetMicros(), tumble.sizeMicros()) + tumble.offsetMicros();
            windows.add(new Window(start, start + tumble.sizeMicros()));
        } else if (spec instanceof WindowSpec.Hop hop) {
            for (long start = floor(time - hop.offsetMicros(), hop.slideMicros()) + hop.offsetMicros();
                    start > time - hop.sizeMicros();
                    start -= hop.slideMicros()) {
                windows.add(new Window(start, start + hop.sizeMicros()));
            }
        } else if (spec instanceof WindowSpec.Cumulate cumulate) {
            long moved = cumulate.offsetMicros();
            long start = floor(time - moved, cumulate.sizeMicros()) + moved;
            for (long end = floor(time - moved, cumulate.stepMicros()) + moved + cumulate.stepMicros();
                    end <= start + cumulate.sizeMicros();
                    end += cumulate.stepMicros()) {
                windows.add(new Window(start, end));
            }
        }
        return windows;
    }

    static long micros(Object time) {
        return ((BigDecimal) time).longValueExact();
    }

    private static long floor(long time, long unit) {
        return time - Math.floorMod(time, unit);
    }

    /** The sessions of rows of one key, in order of time; rows without a time are in none. */
    static List<Window> sessions(List<List<Object>> rows, int timeColumn, long gapMicros) {
        List<Window> sessions = new ArrayList<>();
        rows.stream()
                .filter(row -> row.get(timeColumn) != null)
                .mapToLong(row -> micros(row.get(timeColumn)))
                .sorted()
                .forEach(time -> {
                    Window last = sessions.isEmpty() ? new Window(0, 0) : sessions.get(sessions.size() - 1);
                    if (!sessions.isEmpty() && time < last.end()) {
                        sessions.set(sessions.size() - 1, new Window(last.start(), time + gapMicros));
                    } else {
                        sessions.add(new Window(time, time + gapMicros));
                    }
                });
        return sessions;
    }
}
