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
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.Times;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Two sketches one behind the other as one (dissertation §6.2.2: the sketch is linear). */
final class SketchMerge {
    /** Ranks of rows are ints, in arrays. */
    private static final int MOST_ROWS = 1 << 30;

    private SketchMerge() {}

    static Sketch of(Sketch first, Sketch second) {
        boolean alike = first.schema().size() == second.schema().size()
                && first.schema().ticksPerSecond() == second.schema().ticksPerSecond();
        for (int f = 0; alike && f < first.schema().size(); f++) {
            alike = first.schema()
                            .feature(f)
                            .name()
                            .equals(second.schema().feature(f).name())
                    && first.schema()
                            .feature(f)
                            .type()
                            .equals(second.schema().feature(f).type());
        }
        if (!alike) {
            throw MillraceException.user(SqlState.DATATYPE_MISMATCH, "sketches of different schemas cannot be merged");
        }
        if ((long) first.rows() + second.rows() > MOST_ROWS) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "the sketches together have more than " + MOST_ROWS + " rows")
                    .withHint("Questions about more are answered segment by segment.");
        }
        List<Column> columns = new ArrayList<>();
        for (int f = 0; f < first.schema().size(); f++) {
            columns.add(merge(first.column(f), second.column(f)));
        }
        return new Sketch(
                schema(first.schema(), second.schema()),
                times(first.times(), second.times()),
                Math.max(first.timeErrorTicks(), second.timeErrorTicks()),
                columns,
                Optional.empty());
    }

    /** With the wider of each two bounds. */
    private static SketchSchema schema(SketchSchema a, SketchSchema b) {
        SketchSchema widest = a.withTimeBound(Math.max(a.timeBoundTicks(), b.timeBoundTicks()));
        for (int f = 0; f < a.size(); f++) {
            Bound mine = a.feature(f).bound();
            Bound other = b.feature(f).bound();
            boolean wider = mine.kind() == Bound.Kind.EXACT
                    || mine.kind() == other.kind() && other.amount() > mine.amount()
                    || mine.kind() == Bound.Kind.ABSOLUTE && other.kind() == Bound.Kind.OF_RANGE;
            if (wider) {
                widest = widest.withBound(f, other);
            }
        }
        return widest;
    }

    private static Times times(Times first, Times second) {
        if (first instanceof Times.Regular a
                && second instanceof Times.Regular b
                && a.fraction() == 0
                && b.fraction() == 0
                && b.start() == a.start() + a.rows() * a.period()
                && (b.period() == a.period() || b.rows() == 1)) {
            return new Times.Regular(a.rows() + b.rows(), a.start(), a.period(), 0, 0);
        }
        long[] ticks = new long[first.rows() + second.rows()];
        long[] part = new long[first.rows()];
        first.copy(0, part);
        System.arraycopy(part, 0, ticks, 0, part.length);
        long[] rest = new long[second.rows()];
        second.copy(0, rest);
        System.arraycopy(rest, 0, ticks, part.length, rest.length);
        return new Times.Listed(ticks);
    }

    private static Column merge(Column first, Column second) {
        if (first.symbols() instanceof TextSymbols a && second.symbols() instanceof TextSymbols b) {
            Map<String, Integer> ranks = new LinkedHashMap<>();
            a.texts().forEach(text -> ranks.putIfAbsent(text, ranks.size()));
            b.texts().forEach(text -> ranks.putIfAbsent(text, ranks.size()));
            TextSymbols all = new TextSymbols(List.copyOf(ranks.keySet()));
            return concatenate(first, second, all, r -> ranks.get(a.text(r)), r -> ranks.get(b.text(r)));
        }
        NumberSymbols a = first.numbers();
        NumberSymbols b = second.numbers();
        if (a.size() == 0 || b.size() == 0) {
            NumberSymbols some = a.size() == 0 ? b : a;
            return concatenate(first, second, some, r -> r, r -> r);
        }
        boolean distinct = a.size() < first.rows() - first.nullCount() && b.size() < second.rows() - second.nullCount();
        if (distinct && a.scale().equals(b.scale()) && a.error() == b.error() && !(a.scale() instanceof Scale.Values)) {
            return byBins(first, second);
        }
        return listed(first, second);
    }

    private static Column byBins(Column first, Column second) {
        NumberSymbols a = first.numbers();
        NumberSymbols b = second.numbers();
        long[] bins = LongStream.concat(bins(a), bins(b)).sorted().distinct().toArray();
        double[] exact =
                DoubleStream.concat(exact(a), exact(b)).sorted().distinct().toArray();
        NumberSymbols all = new NumberSymbols(a.scale(), Math.max(a.error(), b.error()), bins, exact);
        return concatenate(first, second, all, r -> find(a, r, bins, exact), r -> find(b, r, bins, exact));
    }

    private static LongStream bins(NumberSymbols symbols) {
        return LongStream.range(0, symbols.binCount()).map(rank -> symbols.bin((int) rank));
    }

    private static DoubleStream exact(NumberSymbols symbols) {
        return IntStream.range(symbols.binCount(), symbols.size()).mapToDouble(symbols::value);
    }

    private static int find(NumberSymbols symbols, int rank, long[] bins, double[] exact) {
        return rank < symbols.binCount()
                ? Arrays.binarySearch(bins, symbols.bin(rank))
                : bins.length + Arrays.binarySearch(exact, symbols.value(rank));
    }

    /** Of different scales: all distinct values, each as it is, within the larger error. */
    private static Column listed(Column first, Column second) {
        NumberSymbols a = first.numbers();
        NumberSymbols b = second.numbers();
        double error = Math.max(a.error(), b.error());
        int size = a.size() + b.size();
        if (a.scale() instanceof Scale.Whole && b.scale() instanceof Scale.Whole) {
            long[] wholes = new long[size];
            Arrays.setAll(wholes, i -> i < a.size() ? a.whole(i) : b.whole(i - a.size()));
            long[] distinct = LongStream.of(wholes).sorted().distinct().toArray();
            NumberSymbols all = new NumberSymbols(new Scale.Whole(1), error, distinct, new double[0]);
            return concatenate(
                    first,
                    second,
                    all,
                    r -> Arrays.binarySearch(distinct, a.whole(r)),
                    r -> Arrays.binarySearch(distinct, b.whole(r)));
        }
        double[] values = new double[size];
        Arrays.setAll(values, i -> i < a.size() ? a.value(i) : b.value(i - a.size()));
        double[] distinct = DoubleStream.of(values).sorted().distinct().toArray();
        long[] places = LongStream.range(0, distinct.length).toArray();
        NumberSymbols all = new NumberSymbols(new Scale.Values(distinct), error, places, new double[0]);
        return concatenate(
                first,
                second,
                all,
                r -> Arrays.binarySearch(distinct, a.value(r)),
                r -> Arrays.binarySearch(distinct, b.value(r)));
    }

    private static Column concatenate(
            Column first, Column second, Symbols all, IntUnaryOperator fromFirst, IntUnaryOperator fromSecond) {
        Column a = first.translate(all, r -> r == first.symbols().size() ? all.size() : fromFirst.applyAsInt(r));
        Column b = second.translate(all, r -> r == second.symbols().size() ? all.size() : fromSecond.applyAsInt(r));
        int rows = a.rows() + b.rows();
        int[] counts = a.counts().clone();
        for (int i = 0; i < counts.length; i++) {
            counts[i] += b.counts()[i];
        }
        return Column.counted(all, concatenate(a.sequence(), b.sequence(), rows), counts);
    }

    private static Sequence concatenate(Sequence a, Sequence b, int rows) {
        if (a.inRuns() && b.inRuns()) {
            int count = a.runs().count() + b.runs().count();
            int[] ranks = Arrays.copyOf(a.runs().ranks(), count);
            int[] ends = Arrays.copyOf(a.runs().ends(), count);
            for (int r = 0; r < b.runs().count(); r++) {
                ranks[a.runs().count() + r] = b.runs().ranks()[r];
                ends[a.runs().count() + r] = a.rows() + b.runs().ends()[r];
            }
            return Sequence.ofRuns(rows, new Sequence.Runs(ranks, ends, count));
        }
        return Sequence.lazy(rows, () -> {
            int[] ranks = Arrays.copyOf(a.ranks(), rows);
            System.arraycopy(b.ranks(), 0, ranks, a.rows(), b.rows());
            return ranks;
        });
    }
}
