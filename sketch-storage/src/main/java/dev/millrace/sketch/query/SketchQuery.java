package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.TextSymbols;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A question about the rows of sketches. Immutable; each method gives a new one.
 *
 * <pre>{@code
 * List<SketchQuery.Row> rows = SketchQuery.select(Aggregate.count(), Aggregate.avg("temperature"))
 *         .where(Condition.atLeast("temperature", 20))
 *         .groupBy("status")
 *         .tumbling(60_000_000)
 *         .run(sketch);
 * }</pre>
 */
public final class SketchQuery {
    private static final int MOST_WINDOWS = 1 << 20;

    private final List<Aggregate> aggregates;
    private final List<Condition> conditions;
    private final List<String> keys;
    private final long sizeTicks; // 0 without windows
    private final long slideTicks;

    /**
     * One group of one window.
     *
     * @param windowStart in ticks; 0 without windows
     * @param windowEnd in ticks, excluded; 0 without windows
     * @param keys the group's values, Double, Long, Boolean or String; empty for NULL
     * @param estimates one per aggregate
     */
    public record Row(long windowStart, long windowEnd, List<Optional<Object>> keys, List<Estimate> estimates) {}

    private SketchQuery(
            List<Aggregate> aggregates,
            List<Condition> conditions,
            List<String> keys,
            long sizeTicks,
            long slideTicks) {
        this.aggregates = List.copyOf(aggregates);
        this.conditions = List.copyOf(conditions);
        this.keys = List.copyOf(keys);
        this.sizeTicks = sizeTicks;
        this.slideTicks = slideTicks;
    }

    public static SketchQuery select(Aggregate... aggregates) {
        return new SketchQuery(List.of(aggregates), List.of(), List.of(), 0, 0);
    }

    /** Only rows that meet all of these, and those given before. */
    public SketchQuery where(Condition... more) {
        List<Condition> all = new ArrayList<>(conditions);
        all.addAll(List.of(more));
        return new SketchQuery(aggregates, all, keys, sizeTicks, slideTicks);
    }

    /** One answer for each combination of these features' values that is seen. */
    public SketchQuery groupBy(String... features) {
        return new SketchQuery(aggregates, conditions, List.of(features), sizeTicks, slideTicks);
    }

    /** One answer for each window from a multiple of {@code ticks} to the next that has rows. */
    public SketchQuery tumbling(long ticks) {
        return sliding(ticks, ticks);
    }

    /** One answer for each window of {@code size} ticks that begins at a multiple of {@code slide} and has rows. */
    public SketchQuery sliding(long size, long slide) {
        if (size < 1 || slide < 1) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "a window and its slide are at least 1 tick");
        }
        return new SketchQuery(aggregates, conditions, keys, size, slide);
    }

    /** The answers, by window; groups within one are in the order in which they were met. */
    public List<Row> run(Sketch sketch) {
        Execution execution = new Execution(sketch);
        List<Row> rows = new ArrayList<>();
        if (sizeTicks == 0) {
            execution.whole();
            execution.finish(0, 0, rows);
            return rows;
        }
        Windows windows = new Windows(sketch.times(), sketch.schema().timeBoundTicks(), sizeTicks, slideTicks);
        checkCount(windows.count());
        for (long w = windows.first(); w <= windows.last(); w += slideTicks) {
            List<Windows.Part> parts = windows.parts(w);
            if (!parts.isEmpty()) {
                for (Windows.Part part : parts) {
                    execution.scan(part.from(), part.to(), part.verdict());
                }
                execution.finish(w, w + sizeTicks, rows);
            }
        }
        return rows;
    }

    private static void checkCount(long windows) {
        if (windows > MOST_WINDOWS) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "the sketch spans " + windows + " windows, more than " + MOST_WINDOWS);
        }
    }

    private final class Execution {
        private final Sketch sketch;
        private final int[] features; // asked about: aggregated first, then keys, then conditions
        private final int aggregated;
        private final int keyed;
        private final byte[][] verdicts; // per feature asked about; empty without conditions on it
        private final Map<List<Integer>, Cells> groups = new HashMap<>();
        private final List<List<Integer>> order = new ArrayList<>();
        private Cells single; // when there are no keys

        Execution(Sketch sketch) {
            this.sketch = sketch;
            List<Integer> asked = new ArrayList<>();
            for (Aggregate aggregate : aggregates) {
                if (!aggregate.feature().isEmpty()) {
                    int feature = sketch.schema().indexOf(aggregate.feature());
                    checkNumber(aggregate, feature);
                    if (!asked.contains(feature)) {
                        asked.add(feature);
                    }
                }
            }
            aggregated = asked.size();
            for (String key : keys) {
                asked.add(sketch.schema().indexOf(key));
            }
            keyed = asked.size();
            Map<Integer, byte[]> byFeature = new HashMap<>();
            for (Condition condition : conditions) {
                int feature = sketch.schema().indexOf(condition.feature());
                RowVerdicts.checkKind(sketch, condition, feature);
                byte[] mine = condition.verdicts(sketch.column(feature));
                byte[] known = byFeature.putIfAbsent(feature, mine);
                for (int rank = 0; known != null && rank < known.length; rank++) {
                    known[rank] &= mine[rank];
                }
                if (!asked.contains(feature)) {
                    asked.add(feature);
                }
            }
            features = asked.stream().mapToInt(Integer::intValue).toArray();
            verdicts = new byte[features.length][];
            for (int i = 0; i < features.length; i++) {
                verdicts[i] = asked.indexOf(features[i]) == i
                        ? byFeature.getOrDefault(features[i], new byte[0])
                        : new byte[0];
            }
            single = new Cells(aggregated);
        }

        private void checkNumber(Aggregate aggregate, int feature) {
            boolean any = aggregate.function() == Aggregate.Function.COUNT
                    || aggregate.function() == Aggregate.Function.DISTINCT;
            if (!any && sketch.column(feature).symbols() instanceof TextSymbols) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        aggregate.function() + " needs numbers, and " + aggregate.feature() + " is "
                                + sketch.schema().feature(feature).type());
            }
        }

        /** Takes in all rows, by distinct values or combinations where those are known. */
        void whole() {
            if (features.length == 0) {
                single.add(sketch.rows(), Condition.ALL);
            } else if (features.length == 1) {
                int[] counts = sketch.column(features[0]).counts();
                int[] ranks = new int[1];
                for (int rank = 0; rank < counts.length; rank++) {
                    if (counts[rank] > 0) {
                        ranks[0] = rank;
                        take(ranks, counts[rank], Condition.ALL);
                    }
                }
            } else if (sketch.joint().isPresent()) {
                Sketch.Joint joint = sketch.joint().get();
                int[] ranks = new int[features.length];
                for (int c = 0; c < joint.counts().length; c++) {
                    for (int i = 0; i < ranks.length; i++) {
                        ranks[i] = joint.combinations()[c][features[i]];
                    }
                    take(ranks, joint.counts()[c], Condition.ALL);
                }
            } else {
                scan(0, sketch.rows(), Condition.ALL);
            }
        }

        /** Takes in some rows, run by run. */
        void scan(int from, int to, int base) {
            if (features.length == 0) {
                single.add(to - from, base);
                return;
            }
            RunMerger merger = new RunMerger(sketch, features, from, to);
            while (merger.next()) {
                take(merger.ranks(), merger.length(), base);
            }
        }

        private void take(int[] ranks, int weight, int base) {
            int verdict = base;
            for (int i = 0; i < ranks.length; i++) {
                if (verdicts[i].length > 0) {
                    verdict &= verdicts[i][ranks[i]];
                }
            }
            if ((verdict & (Condition.POSSIBLE | Condition.SEEN)) == 0) {
                return;
            }
            Cells cells = keys.isEmpty() ? single : group(ranks);
            int at = cells.add(weight, verdict);
            System.arraycopy(ranks, 0, cells.ranks, at, aggregated);
        }

        private Cells group(int[] ranks) {
            List<Integer> key = new ArrayList<>(keyed - aggregated);
            for (int i = aggregated; i < keyed; i++) {
                key.add(canonical(features[i], ranks[i]));
            }
            return groups.computeIfAbsent(key, k -> {
                order.add(k);
                return new Cells(aggregated);
            });
        }

        /** Where every row has a symbol of its own, equal values are one group: the first rank of the value. */
        private int canonical(int feature, int rank) {
            Column column = sketch.column(feature);
            if (!(column.symbols() instanceof NumberSymbols numbers)
                    || rank == numbers.size()
                    || numbers.size() < column.rows() - column.nullCount()) {
                return rank;
            }
            return firstRank
                    .computeIfAbsent(feature, f -> new HashMap<>())
                    .computeIfAbsent(Double.doubleToLongBits(numbers.value(rank)), bits -> rank);
        }

        private final Map<Integer, Map<Long, Integer>> firstRank = new HashMap<>();

        void finish(long start, long end, List<Row> rows) {
            if (keys.isEmpty()) {
                rows.add(new Row(start, end, List.of(), estimates(single)));
                single = new Cells(aggregated);
                return;
            }
            for (List<Integer> key : order) {
                Cells cells = Objects.requireNonNull(groups.get(key));
                if (cells.seen()) {
                    List<Optional<Object>> values = new ArrayList<>(key.size());
                    for (int i = 0; i < key.size(); i++) {
                        values.add(Values.of(sketch, features[aggregated + i], key.get(i)));
                    }
                    rows.add(new Row(start, end, values, estimates(cells)));
                }
            }
            groups.clear();
            order.clear();
        }

        private List<Estimate> estimates(Cells cells) {
            List<Estimate> estimates = new ArrayList<>(aggregates.size());
            for (Aggregate aggregate : aggregates) {
                if (aggregate.feature().isEmpty()) {
                    estimates.add(Aggregation.rows(cells));
                    continue;
                }
                int feature = sketch.schema().indexOf(aggregate.feature());
                int position = 0;
                while (features[position] != feature) {
                    position++;
                }
                estimates.add(new Aggregation(cells, position, sketch.column(feature)).compute(aggregate));
            }
            return estimates;
        }
    }
}
