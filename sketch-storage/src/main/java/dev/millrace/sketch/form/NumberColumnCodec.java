package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.schema.Feature;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A column of numbers: NULLs, a scale, then a dictionary with a sequence of ranks, or numbers without a dictionary. */
public final class NumberColumnCodec {
    private static final int GAP_ORDER_BITS = 5;

    private NumberColumnCodec() {}

    /**
     * Prepares one way of putting a column's values into bins.
     *
     * @param nulls which of the {@code rows} rows are NULL
     * @param binned the others, in bins
     * @param values the same values, where some are kept exactly; else ignored
     */
    public static ColumnPlan plan(
            boolean[] nulls, int rows, Binned binned, double[] values, int count, BinSet bins, Keep keep) {
        return plan(nulls, rows, binned, values, count, bins, keep, true);
    }

    /** The same of values of which those in bins are known by these alone: what was measured may be as far off as the error. */
    public static ColumnPlan planOfBins(
            boolean[] nulls, int rows, Binned binned, double[] values, int count, BinSet bins, Keep keep) {
        return plan(nulls, rows, binned, values, count, bins, keep, binned.error() == 0);
    }

    private static ColumnPlan plan(
            boolean[] nulls,
            int rows,
            Binned binned,
            double[] values,
            int count,
            BinSet bins,
            Keep keep,
            boolean measured) {
        NullRuns nullRuns = NullRuns.of(nulls, rows);
        if (count == 0) {
            return new Plan(nullRuns, binned, bins, null, null, null);
        }
        Dictionary dictionary = Dictionary.of(binned, values, count);
        if (dictionary.size() <= Dictionary.limit(count)) {
            SequencePlan sequence =
                    new SequencePlan(dictionary.ranks, count, dictionary.counts, dictionary.size(), keep);
            return new Plan(nullRuns, binned, bins, dictionary, sequence, null);
        }
        return new Plan(nullRuns, binned, bins, null, null, DirectCodec.plan(binned, values, count, keep, measured));
    }

    private static final class Plan implements ColumnPlan {
        private final NullRuns nulls;
        private final Binned binned;
        private final BinSet bins;
        private final @Nullable Dictionary dictionary; // null without one
        private final @Nullable SequencePlan sequence; // null without a dictionary
        private final DirectCodec.@Nullable Plan direct; // null with a dictionary or no value at all
        private final BitWriter head = new BitWriter(); // all before the sequence

        Plan(
                NullRuns nulls,
                Binned binned,
                BinSet bins,
                @Nullable Dictionary dictionary,
                @Nullable SequencePlan sequence,
                DirectCodec.@Nullable Plan direct) {
            this.nulls = nulls;
            this.binned = binned;
            this.bins = bins;
            this.dictionary = dictionary;
            this.sequence = sequence;
            this.direct = direct;
            writeHead();
        }

        private void writeHead() {
            nulls.write(head);
            if (dictionary == null && direct == null) {
                return;
            }
            head.flag(dictionary != null);
            ScaleCodec.write(head, binned.scale(), bins, binned.error());
            if (dictionary != null) {
                writeDictionary(head, dictionary);
            }
        }

        @Override
        public long bits() {
            return head.bitCount() + (sequence != null ? sequence.bits() : direct != null ? direct.bits() : 0);
        }

        @Override
        public void write(BitWriter out, boolean last) {
            out.append(head);
            if (sequence != null) {
                sequence.write(out, last);
            } else if (direct != null) {
                direct.write(out, last);
            }
        }
    }

    private static void writeDictionary(BitWriter out, Dictionary dictionary) {
        long[] distinct = dictionary.bins;
        out.golomb(distinct.length, 3);
        out.golomb(dictionary.exact.length, 0);
        if (distinct.length > 0) {
            out.golomb(BitWriter.zigzag(distinct[0]), 8);
        }
        if (distinct.length > 1) {
            long gaps = distinct[distinct.length - 1] - distinct[0] - (distinct.length - 1);
            out.flag(gaps == 0);
            if (gaps != 0) {
                int order = bestGapOrder(distinct);
                out.write(order, GAP_ORDER_BITS);
                for (int i = 1; i < distinct.length; i++) {
                    out.golomb(distinct[i] - distinct[i - 1] - 1, order);
                }
            }
        }
        for (double value : dictionary.exact) {
            out.write(Double.doubleToRawLongBits(value), 64);
        }
    }

    private static int bestGapOrder(long[] distinct) {
        int best = 0;
        long bestBits = Long.MAX_VALUE;
        for (int order = 0; order < 1 << GAP_ORDER_BITS; order++) {
            long bits = 0;
            for (int i = 1; i < distinct.length; i++) {
                bits += BitWriter.golombBits(distinct[i] - distinct[i - 1] - 1, order);
            }
            if (bits >= bestBits) {
                break;
            }
            best = order;
            bestBits = bits;
        }
        return best;
    }

    private static NumberSymbols readDictionary(BitReader in, ScaleCodec.Scaled scaled, int count) {
        int distinct = in.count(3, count, "the size of a dictionary");
        int exactCount = in.count(0, count - distinct, "the number of exact values");
        Damage.check(distinct + exactCount > 0, "a dictionary without entries");
        long[] bins = new long[distinct];
        if (distinct > 0) {
            bins[0] = BitReader.unzigzag(in.golomb(8));
        }
        if (distinct > 1) {
            if (in.flag()) {
                for (int i = 1; i < distinct; i++) {
                    bins[i] = bins[0] + i;
                }
            } else {
                int order = in.readInt(GAP_ORDER_BITS);
                for (int i = 1; i < distinct; i++) {
                    bins[i] = bins[i - 1] + in.golomb(order) + 1;
                }
            }
        }
        checkTable(scaled.scale(), bins);
        double[] exact = new double[exactCount];
        for (int i = 0; i < exactCount; i++) {
            exact[i] = Double.longBitsToDouble(in.read(64));
        }
        return new NumberSymbols(scaled.scale(), scaled.error(), bins, exact);
    }

    static void checkTable(Scale scale, long[] bins) {
        Damage.check(bins.length == 0 || !(scale instanceof Scale.Values), "bins without a scale");
        if (scale instanceof Scale.Table table) {
            for (long bin : bins) {
                Damage.check(bin >= 0 && bin < table.centres().size(), "a bin that its version does not have");
            }
        }
    }

    /** Prepares a column to be stored together with others. */
    public static JointCodec.Part joint(
            boolean[] nulls, int rows, Binned binned, double[] values, int count, BinSet bins) {
        BitWriter head = new BitWriter();
        boolean someNull = count < rows;
        head.flag(someNull);
        head.flag(count > 0);
        @Nullable Dictionary dictionary = count == 0 ? null : Dictionary.of(binned, values, count);
        if (dictionary != null) {
            ScaleCodec.write(head, binned.scale(), bins, binned.error());
            writeDictionary(head, dictionary);
        }
        int size = dictionary == null ? 0 : dictionary.size();
        long[] present = dictionary == null ? new long[0] : dictionary.ranks;
        int[] ranks = new int[rows];
        int at = 0;
        for (int row = 0; row < rows; row++) {
            ranks[row] = nulls[row] ? size : (int) present[at++];
        }
        return new JointCodec.Part(head, ranks, size + (someNull ? 1 : 0));
    }

    static NumberSymbols readJoint(BitReader in, int rows, BinSet bins, Feature.Kind kind) {
        if (!in.flag()) {
            return new NumberSymbols(new Scale.Whole(1), 0, new long[0], new double[0]);
        }
        NumberSymbols symbols = readDictionary(in, ScaleCodec.read(in, bins, kind), rows);
        Damage.check(
                kind == Feature.Kind.NUMBER || symbols.binCount() == symbols.size(), "a whole number that is none");
        return symbols;
    }

    /** Reads a column of {@code rows} rows. */
    public static Column read(BitReader in, int rows, BinSet bins, Feature.Kind kind, boolean last) {
        return read(in, rows, bins, kind, last, SymbolFilter.ANY).orElseThrow();
    }

    /** Reads a column of {@code rows} rows; empty, somewhere within it, if none of them may be wanted. */
    public static Optional<Column> read(
            BitReader in, int rows, BinSet bins, Feature.Kind kind, boolean last, SymbolFilter filter) {
        NullRuns nulls = NullRuns.read(in, rows);
        int count = rows - nulls.rows();
        if (count == 0) {
            NumberSymbols none = new NumberSymbols(new Scale.Whole(1), 0, new long[0], new double[0]);
            return filter.mayMeet(none, rows, rows)
                    ? Optional.of(Column.counted(none, Sequence.constant(rows, 0), new int[] {rows}))
                    : Optional.empty();
        }
        boolean hasDictionary = in.flag();
        ScaleCodec.Scaled scaled = ScaleCodec.read(in, bins, kind);
        if (hasDictionary) {
            NumberSymbols symbols = readDictionary(in, scaled, count);
            Damage.check(
                    kind == Feature.Kind.NUMBER || symbols.binCount() == symbols.size(), "a whole number that is none");
            return filter.mayMeet(symbols, nulls.rows(), rows)
                    ? Optional.of(withNulls(symbols, SequencePlan.read(in, count, symbols.size(), last), nulls, rows))
                    : Optional.empty();
        }
        NumberSymbols symbols = DirectCodec.read(in, count, scaled, kind, last);
        return filter.mayMeet(symbols, nulls.rows(), rows)
                ? Optional.of(
                        withNulls(symbols, new SequencePlan.Read(Sequence.identity(count), ones(count)), nulls, rows))
                : Optional.empty();
    }

    private static int[] ones(int count) {
        int[] ones = new int[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    /** Puts NULLs between the rows that are not. */
    static Column withNulls(
            dev.millrace.sketch.column.Symbols symbols, SequencePlan.Read read, NullRuns nulls, int rows) {
        int size = symbols.size();
        int[] counts = read.counts().length == 0 && size > 0 ? read.sequence().count(size) : read.counts();
        int[] all = Arrays.copyOf(counts, size + 1);
        all[size] = nulls.rows();
        if (nulls.isEmpty()) {
            return Column.counted(symbols, read.sequence(), all);
        }
        Sequence inner = read.sequence();
        if (inner.inRuns()) {
            return Column.counted(symbols, Sequence.ofRuns(rows, interleave(inner.runs(), nulls, size)), all);
        }
        return Column.counted(
                symbols,
                Sequence.lazy(rows, () -> {
                    int[] ranks = new int[rows];
                    int[] source = inner.ranks();
                    int[] bounds = nulls.bounds();
                    int from = 0;
                    int taken = 0;
                    for (int i = 0; i <= bounds.length; i += 2) {
                        int to = i < bounds.length ? bounds[i] : rows;
                        System.arraycopy(source, taken, ranks, from, to - from);
                        taken += to - from;
                        if (i < bounds.length) {
                            Arrays.fill(ranks, bounds[i], bounds[i + 1], size);
                            from = bounds[i + 1];
                        }
                    }
                    return ranks;
                }),
                all);
    }

    private static Sequence.Runs interleave(Sequence.Runs runs, NullRuns nulls, int nullRank) {
        int[] bounds = nulls.bounds();
        int most = runs.count() + bounds.length;
        int[] ranks = new int[most];
        int[] ends = new int[most];
        int used = 0;
        int run = 0;
        int shift = 0; // NULLs so far
        int at = 0;
        for (int i = 0; i <= bounds.length; i += 2) {
            boolean atEnd = i == bounds.length;
            int stop = atEnd ? Integer.MAX_VALUE : bounds[i];
            while (run < runs.count() && at < stop) {
                int end = runs.ends()[run] + shift;
                int to = Math.min(end, stop);
                ranks[used] = runs.ranks()[run];
                ends[used++] = to;
                at = to;
                run += to == end ? 1 : 0;
            }
            if (!atEnd) {
                ranks[used] = nullRank;
                ends[used++] = bounds[i + 1];
                shift += bounds[i + 1] - bounds[i];
                at = bounds[i + 1];
            }
        }
        return new Sequence.Runs(ranks, ends, used);
    }
}
