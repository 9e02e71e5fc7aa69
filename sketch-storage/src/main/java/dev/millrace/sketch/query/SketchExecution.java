package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.time.Times;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A question asked of one sketch: from its runs, or only from how often symbols occur, to cells by group and window. */
final class SketchExecution {
    private static final byte[] NO_TIMES = {};

    private final SketchQuery query;
    private final Sketch sketch;
    private final PartialAnswer answer;
    private final int[] features; // asked about: aggregated first, then keys, then those of conditions alone
    private final int aggregated;
    private final int keyed;
    private final Filter filter;
    private final @Nullable CellValues[] values; // by aggregate; null for a count of rows
    private final int[][] canonical; // by key, for each rank the first one of the same value; made when needed
    private Map<List<Integer>, Cells> groups = new LinkedHashMap<>(); // of the window that is looked at
    private @Nullable Cells only; // those of its one group, where there are no keys; null before the first

    SketchExecution(SketchQuery query, Layout layout, Sketch sketch, PartialAnswer answer) {
        this.query = query;
        this.sketch = sketch;
        this.answer = answer;
        List<Integer> asked = new ArrayList<>(layout.asked());
        aggregated = layout.aggregated();
        keyed = asked.size();
        values = CellValues.of(layout, sketch);
        canonical = new int[keyed - aggregated][];
        filter = new Filter(sketch, query.conditions(), asked);
        features = new int[asked.size()];
        for (int i = 0; i < features.length; i++) {
            features[i] = asked.get(i);
        }
    }

    void run() {
        TimeParts times = new TimeParts(sketch.times(), sketch.timeErrorTicks());
        if (query.windows().isEmpty()) {
            if (filter.times().isEmpty()) {
                all();
            } else {
                times.each(
                        0, sketch.rows(), filter.times(), (from, to, truths) -> scan(from, to, Condition.ALL, truths));
            }
            deliver(0);
        } else if (times.ordered()) {
            inOrder(times, query.windows().get());
        } else {
            rowByRow(times, query.windows().get());
        }
    }

    /** Each window with its rows, over the gaps between rows. */
    private void inOrder(TimeParts times, Windows windows) {
        Times all = sketch.times();
        List<Condition.Time> stretches = new ArrayList<>(filter.times());
        stretches.add(new Condition.Time(0, 0)); // the window's
        int last = stretches.size() - 1;
        long start = windows.first(all.at(0), times.error());
        while (true) {
            int from = times.firstFrom(start);
            if (from == sketch.rows()) {
                return;
            }
            start = Math.max(start, windows.first(all.at(from), times.error()));
            stretches.set(last, windows.stretch(start));
            int to = sketch.rows();
            long end = stretches.get(last).last();
            if (end < Long.MAX_VALUE - times.error()) {
                to = all.firstFrom(end + times.error() + 1);
            }
            times.each(times.firstFrom(start), to, stretches, (a, b, truths) -> scan(a, b, truths[last], truths));
            deliver(start);
            if (windows.isLast(start)) {
                return;
            }
            start += windows.slide();
        }
    }

    /** Each row to its windows, which are all open until the last row. */
    private void rowByRow(TimeParts times, Windows windows) {
        TreeMap<Long, Map<List<Integer>, Cells>> open = new TreeMap<>();
        times.each(0, sketch.rows(), filter.times(), (from, to, truths) -> {
            for (int row = from; row < to; row++) {
                long time = sketch.times().at(row);
                long late = time > Long.MAX_VALUE - times.error() ? Long.MAX_VALUE : time + times.error();
                long start = windows.first(time, times.error());
                while (start <= late) {
                    groups = open.computeIfAbsent(start, s -> new LinkedHashMap<>());
                    only = groups.get(List.of());
                    scan(row, row + 1, windows.stretch(start).truth(time, times.error()), truths);
                    if (windows.isLast(start)) {
                        break;
                    }
                    start += windows.slide();
                }
            }
        });
        open.forEach((start, ofWindow) -> {
            groups = ofWindow;
            deliver(start);
        });
    }

    /** Takes in all rows, if possible from how often symbols occur and without looking at their order. */
    private void all() {
        if (features.length == 0) {
            take(new int[0], sketch.rows(), Condition.ALL, NO_TIMES);
        } else if (features.length == 1) {
            int[] counts = sketch.column(features[0]).counts();
            int[] ranks = new int[1];
            for (int rank = 0; rank < counts.length; rank++) {
                if (counts[rank] > 0) {
                    ranks[0] = rank;
                    take(ranks, counts[rank], Condition.ALL, NO_TIMES);
                }
            }
        } else if (sketch.joint().isPresent()) {
            Sketch.Joint joint = sketch.joint().get();
            int[] ranks = new int[features.length];
            for (int c = 0; c < joint.counts().length; c++) {
                for (int i = 0; i < ranks.length; i++) {
                    ranks[i] = joint.combinations()[c][features[i]];
                }
                take(ranks, joint.counts()[c], Condition.ALL, NO_TIMES);
            }
        } else {
            scan(0, sketch.rows(), Condition.ALL, NO_TIMES);
        }
    }

    /** Takes in some rows, run by run. */
    private void scan(int from, int to, int base, byte[] truths) {
        if ((base & Condition.ALL) == 0) {
            return;
        }
        if (features.length == 0) {
            take(new int[0], to - from, base, truths);
            return;
        }
        RunMerger merger = new RunMerger(sketch, features, from, to);
        while (merger.next()) {
            take(merger.ranks(), merger.length(), base, truths);
        }
    }

    private void take(int[] ranks, int weight, int base, byte[] truths) {
        int verdict = base & filter.verdict(ranks, truths);
        if (verdict == 0) {
            return;
        }
        Cells cells = keyed == aggregated ? only : groups.get(key(ranks));
        if (cells == null) {
            cells = new Cells(aggregated);
            groups.put(key(ranks), cells);
            only = cells;
        }
        int at = cells.add(weight, verdict);
        System.arraycopy(ranks, 0, cells.ranks, at, aggregated);
    }

    private List<Integer> key(int[] ranks) {
        List<Integer> key = new ArrayList<>(keyed - aggregated);
        for (int i = aggregated; i < keyed; i++) {
            key.add(canonical(i - aggregated, ranks[i]));
        }
        return key;
    }

    /** The first rank of the same value: after merging, and where every row has a symbol of its own, there may be several. */
    private int canonical(int key, int rank) {
        if (canonical[key] == null) {
            int feature = features[aggregated + key];
            Column column = sketch.column(feature);
            int[] table = new int[column.symbols().size() + 1];
            table[table.length - 1] = table.length - 1;
            Map<Object, Integer> first = new HashMap<>();
            Points points = column.symbols() instanceof TextSymbols
                    ? null
                    : new Points(column, sketch.schema().feature(feature));
            for (int r = 0; r < table.length - 1; r++) {
                Object value = points == null ? ((TextSymbols) column.symbols()).text(r) : (Object) points.key(r);
                Integer known = first.putIfAbsent(value, r);
                table[r] = known == null ? r : known;
            }
            canonical[key] = table;
        }
        return canonical[key][rank];
    }

    private void deliver(long window) {
        groups.forEach((key, cells) -> {
            List<Optional<Object>> keys = new ArrayList<>(key.size());
            for (int i = 0; i < key.size(); i++) {
                keys.add(Values.of(sketch, features[aggregated + i], key.get(i)));
            }
            answer.add(window, keys, cells, values);
        });
        groups.clear();
        only = null;
    }
}
