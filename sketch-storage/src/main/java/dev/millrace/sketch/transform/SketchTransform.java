package dev.millrace.sketch.transform;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.column.Symbols;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.query.Certainty;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.query.RowVerdicts;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.Times;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Operations on whole sketches. */
public final class SketchTransform {
    private SketchTransform() {}

    /** Only these features, in this order. */
    public static Sketch project(Sketch sketch, String... features) {
        List<Feature> kept = new ArrayList<>();
        List<Column> columns = new ArrayList<>();
        for (String name : features) {
            int feature = sketch.schema().indexOf(name);
            kept.add(sketch.schema().feature(feature));
            columns.add(sketch.column(feature));
        }
        return new Sketch(
                withFeatures(sketch.schema(), kept),
                sketch.times(),
                sketch.timeErrorTicks(),
                columns,
                Optional.empty());
    }

    private static SketchSchema withFeatures(SketchSchema schema, List<Feature> features) {
        return new SketchSchema(schema.timeName(), schema.ticksPerSecond(), schema.timeBoundTicks(), features);
    }

    private static Sketch replace(Sketch sketch, int feature, Column column) {
        List<Column> columns = new ArrayList<>(sketch.columns());
        columns.set(feature, column);
        return new Sketch(sketch.schema(), sketch.times(), sketch.timeErrorTicks(), columns, Optional.empty());
    }

    /**
     * A number mapped: the function is called once per symbol. Distinct symbols may become equal.
     *
     * @param stretch by how much the function makes distances larger at most (its Lipschitz constant), which says what
     *     becomes of errors; 9/5 for Celsius to Fahrenheit
     */
    public static Sketch map(Sketch sketch, String name, DoubleUnaryOperator function, double stretch) {
        int feature = sketch.schema().indexOf(name);
        Column column = sketch.column(feature);
        if (!(column.symbols() instanceof NumberSymbols numbers)
                || sketch.schema().feature(feature).kind() != Feature.Kind.NUMBER) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, name + " is no number of double precision, so it cannot be mapped");
        }
        double[] mapped = new double[numbers.size()];
        double size = 0;
        for (int rank = 0; rank < mapped.length; rank++) {
            mapped[rank] = function.applyAsDouble(numbers.value(rank));
            size = Double.isFinite(mapped[rank]) ? Math.max(size, Math.abs(mapped[rank])) : size;
        }
        double error = numbers.error() * stretch;
        double rounded = error == 0 ? 0 : error + 4 * Math.ulp(size);
        return replace(sketch, feature, column.translate(listed(mapped, rounded), rank -> rank));
    }

    /** Symbols that follow no scale: each value as it is, within an error. */
    private static NumberSymbols listed(double[] values, double error) {
        long[] all = new long[values.length];
        Arrays.setAll(all, i -> i);
        return new NumberSymbols(new Scale.Values(values), error, all, new double[0]);
    }

    /** Categories renamed, cleaned or put together: the function is called once per distinct text. */
    public static Sketch mapText(Sketch sketch, String name, UnaryOperator<String> function) {
        int feature = sketch.schema().indexOf(name);
        Column column = sketch.column(feature);
        if (!(column.symbols() instanceof TextSymbols texts)) {
            throw MillraceException.user(SqlState.DATATYPE_MISMATCH, name + " is no text");
        }
        Map<String, Integer> known = new LinkedHashMap<>();
        int[] target = new int[texts.size()];
        for (int rank = 0; rank < target.length; rank++) {
            String mapped = function.apply(texts.text(rank));
            target[rank] = known.computeIfAbsent(mapped, text -> known.size());
        }
        TextSymbols to = new TextSymbols(List.copyOf(known.keySet()));
        return replace(sketch, feature, column.translate(to, rank -> rank == target.length ? to.size() : target[rank]));
    }

    /** The rows whose values in the sketch meet all conditions; empty when none does. */
    public static Optional<Sketch> filter(Sketch sketch, Condition... conditions) {
        return filter(sketch, Certainty.SEEN, conditions);
    }

    /** The rows that meet all conditions as the sketch shows it, for certain, or possibly; empty when none does. */
    public static Optional<Sketch> filter(Sketch sketch, Certainty certainty, Condition... conditions) {
        Ranges ranges = new Ranges();
        RowVerdicts.forEach(sketch, List.of(conditions), certainty, (from, to) -> ranges.add(from, to));
        return ranges.rows() == 0 ? Optional.empty() : Optional.of(SketchSelection.of(sketch, ranges));
    }

    /** One sketch for each value of a feature, by the value: a Double, Long, Boolean or String; empty for NULL. */
    public static Map<Optional<Object>, Sketch> partitionByKey(Sketch sketch, String name) {
        int feature = sketch.schema().indexOf(name);
        Map<Optional<Object>, Ranges> parts = new LinkedHashMap<>();
        Sequence.Runs runs = sketch.column(feature).sequence().runs();
        Ranges[] byRank = new Ranges[sketch.column(feature).symbols().size() + 1];
        int from = 0;
        for (int r = 0; r < runs.count(); r++) {
            int rank = runs.ranks()[r];
            if (byRank[rank] == null) {
                // Equal values may have several ranks where every row has one of its own.
                byRank[rank] = parts.computeIfAbsent(RowVerdicts.value(sketch, feature, rank), key -> new Ranges());
            }
            byRank[rank].add(from, runs.ends()[r]);
            from = runs.ends()[r];
        }
        Map<Optional<Object>, Sketch> sketches = new LinkedHashMap<>();
        parts.forEach((key, ranges) -> sketches.put(key, SketchSelection.of(sketch, ranges)));
        return sketches;
    }

    /** One sketch for each stretch of time from a multiple of {@code ticks} to the next that has rows, by its start. */
    public static SortedMap<Long, Sketch> partitionByTime(Sketch sketch, long ticks) {
        Times times = sketch.times();
        SortedMap<Long, Ranges> parts = new TreeMap<>();
        boolean ordered = times.ordered();
        int row = 0;
        while (row < times.rows()) {
            long time = times.at(row);
            long start = time - Math.floorMod(time, ticks);
            if (start > time) {
                throw MillraceException.user(
                        SqlState.DATETIME_FIELD_OVERFLOW,
                        "a stretch of time around " + time + " begins before what a time can be");
            }
            int to =
                    !ordered ? row + 1 : start > Long.MAX_VALUE - ticks ? times.rows() : times.firstFrom(start + ticks);
            parts.computeIfAbsent(start, key -> new Ranges()).add(row, to);
            row = to;
        }
        SortedMap<Long, Sketch> sketches = new TreeMap<>();
        parts.forEach((start, ranges) -> sketches.put(start, SketchSelection.of(sketch, ranges)));
        return sketches;
    }

    /**
     * Deals the rows out to {@code count} sketches, one after another; fewer when there are fewer rows. Runs are divided by
     * arithmetic, where the paper's implementation cloned a mask for each bitmap.
     */
    public static List<Sketch> roundRobin(Sketch sketch, int count) {
        List<Sketch> sketches = new ArrayList<>();
        for (int part = 0; part < Math.min(count, sketch.rows()); part++) {
            int first = part;
            int rows = (sketch.rows() - part + count - 1) / count;
            List<Column> columns = new ArrayList<>();
            for (Column column : sketch.columns()) {
                columns.add(Column.of(column.symbols(), SketchSelection.every(column.sequence(), first, count, rows)));
            }
            Times times = sketch.times() instanceof Times.Regular regular && regular.fraction() == 0
                    ? new Times.Regular(rows, regular.at(first), regular.period() * count, 0, 0)
                    : every(sketch.times(), first, count, rows);
            sketches.add(new Sketch(sketch.schema(), times, sketch.timeErrorTicks(), columns, Optional.empty()));
        }
        return sketches;
    }

    private static Times every(Times times, int first, int step, int rows) {
        long[] ticks = new long[rows];
        for (int i = 0; i < rows; i++) {
            ticks[i] = times.at(first + i * step);
        }
        return new Times.Listed(ticks);
    }

    /** The rows of one sketch and then those of the next, of the same schema; no value changes. */
    public static Sketch merge(Sketch first, Sketch second) {
        return SketchMerge.of(first, second);
    }

    /** The rows of some sketches, at least one, one behind the other; no value changes. */
    public static Sketch merge(List<Sketch> sketches) {
        if (sketches.size() == 1) {
            return sketches.get(0);
        }
        int half = sketches.size() / 2;
        return merge(merge(sketches.subList(0, half)), merge(sketches.subList(half, sketches.size())));
    }

    /**
     * A category looked up: a new feature behind the others that says for each text what belongs to it (dissertation §6.2.4,
     * enrichment). The function is called once per distinct text; where it has nothing, and for NULL, the new one is NULL.
     */
    public static Sketch enrich(Sketch sketch, String from, String name, Function<String, Optional<String>> function) {
        Column column = sketch.column(sketch.schema().indexOf(from));
        if (!(column.symbols() instanceof TextSymbols texts)) {
            throw MillraceException.user(SqlState.DATATYPE_MISMATCH, from + " is no text");
        }
        Map<String, Integer> known = new LinkedHashMap<>();
        int[] target = new int[texts.size() + 1];
        for (int rank = 0; rank < texts.size(); rank++) {
            Optional<String> found = function.apply(texts.text(rank));
            target[rank] = found.isEmpty() ? -1 : known.computeIfAbsent(found.get(), text -> known.size());
        }
        target[texts.size()] = -1;
        TextSymbols to = new TextSymbols(List.copyOf(known.keySet()));
        Column added = column.translate(to, rank -> target[rank] < 0 ? to.size() : target[rank]);
        List<Feature> features = new ArrayList<>(sketch.schema().features());
        features.add(Feature.text(name));
        List<Column> columns = new ArrayList<>(sketch.columns());
        columns.add(added);
        return new Sketch(
                withFeatures(sketch.schema(), features),
                sketch.times(),
                sketch.timeErrorTicks(),
                columns,
                Optional.empty());
    }

    /**
     * The same rows under another schema, as after a change of it: features are found by name and type, those that were not
     * there are NULL, and those that are not in it are left out.
     */
    public static Sketch conform(Sketch sketch, SketchSchema schema) {
        List<Column> columns = new ArrayList<>();
        for (Feature feature : schema.features()) {
            Column column = absent(feature, sketch.rows());
            for (int f = 0; f < sketch.schema().size(); f++) {
                Feature mine = sketch.schema().feature(f);
                if (mine.name().equals(feature.name()) && mine.type().equals(feature.type())) {
                    column = sketch.column(f);
                }
            }
            columns.add(column);
        }
        if (schema.ticksPerSecond() != sketch.schema().ticksPerSecond()) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, "the times of the two schemas are counted in different ticks");
        }
        return new Sketch(schema, sketch.times(), sketch.timeErrorTicks(), columns, Optional.empty());
    }

    private static Column absent(Feature feature, int rows) {
        Symbols none = feature.kind() == Feature.Kind.TEXT
                ? new TextSymbols(List.of())
                : new NumberSymbols(new Scale.Whole(1), 0, new long[0], new double[0]);
        return Column.counted(none, Sequence.constant(rows, 0), new int[] {rows});
    }
}
