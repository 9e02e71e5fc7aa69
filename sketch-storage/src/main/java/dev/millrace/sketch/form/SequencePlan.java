package dev.millrace.sketch.form;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.entropy.AdaptiveCode;
import dev.millrace.sketch.entropy.HistogramCode;
import dev.millrace.sketch.entropy.StaticCode;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of ranks, each below the number of symbols, in the smallest of several layouts. All but the runs come with
 * how often each symbol occurs.
 */
final class SequencePlan {
    private static final int RUNS = 0;
    private static final int PACKED = 1;
    private static final int STATIC = 2;
    private static final int HISTOGRAM = 3;
    private static final int ADAPTIVE = 4;
    private static final int KIND_BITS = 3;
    private static final int LENGTH_ORDER = 9;
    private static final int FOLLOWING = 31; // in place of the counts' order: each has its own, by the one before
    private static final int FIRST_ORDER = 1;
    /** Runs are quicker to query, so they may be a little larger. */
    private static final double FOR_RUNS = .95;

    private final long[] ranks;
    private final int count;
    private final int symbols;
    private final int[] counts;
    private int kind = RUNS;
    private long bits;
    private int[] runStarts = {};
    private int runOrder;
    private int stepOrder;
    private boolean stepsPacked;
    private int countOrder;
    private @Nullable StaticCode staticCode; // set when kind is STATIC
    private @Nullable BitWriter adaptive; // set when kind is ADAPTIVE

    /**
     * Chooses.
     *
     * @param counts how often each symbol occurs, adding up to {@code count}
     */
    SequencePlan(long[] ranks, int count, int[] counts, int symbols, Keep keep) {
        this.ranks = ranks;
        this.count = count;
        this.symbols = symbols;
        this.counts = counts;
        if (symbols <= 1 || count == 0) {
            return;
        }
        findRuns();
        long runBits = runBits();
        bits = runBits;
        int width = width(symbols);
        long countBits = countBits();
        double best = runBits * FOR_RUNS;
        long packed = countBits + (long) width * count;
        if (packed < best) {
            best = packed;
            kind = PACKED;
        }
        if (runStarts.length > 6) {
            StaticCode candidate = new StaticCode(ranks, count, symbols);
            long size = countBits + candidate.bits() + LENGTH_ORDER + 2;
            if (size < best) {
                best = size;
                kind = STATIC;
                staticCode = candidate;
            }
            if (symbols <= HistogramCode.MOST_SYMBOLS) {
                long histogram = countBits + HistogramCode.bits(counts, count) + LENGTH_ORDER + 2;
                if (histogram < best) {
                    best = histogram;
                    kind = HISTOGRAM;
                }
            }
        }
        if (keep == Keep.ARCHIVAL && best > countBits + 64) {
            BitWriter out = new BitWriter();
            AdaptiveCode.write(ranks, count, out);
            if (countBits + out.bitCount() + 8 < best) {
                best = countBits + out.bitCount() + 8;
                kind = ADAPTIVE;
                adaptive = out;
            }
        }
        if (kind != RUNS) {
            bits = (long) best;
        }
        bits += KIND_BITS;
    }

    static int width(int symbols) {
        return 32 - Integer.numberOfLeadingZeros(symbols - 1);
    }

    private void findRuns() {
        int[] starts = new int[count];
        int used = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || ranks[i] != ranks[i - 1]) {
                starts[used++] = i;
            }
        }
        runStarts = Arrays.copyOf(starts, used);
    }

    private long runBits() {
        int runs = runStarts.length;
        int[] bestOrders = new int[2];
        long lengths = Long.MAX_VALUE;
        double mean = runs == 1 ? 0 : runStarts[runs - 1] / (double) (runs - 1) - 1;
        int guess = BitWriter.orderFor(mean);
        for (int order = Math.max(0, guess - 1); order <= guess + 1 && order < 32; order++) {
            long size = 0;
            for (int r = 1; r < runs; r++) {
                size += BitWriter.golombBits(runStarts[r] - runStarts[r - 1] - 1, order);
            }
            if (size < lengths) {
                lengths = size;
                bestOrders[0] = order;
            }
        }
        runOrder = bestOrders[0];
        int width = width(symbols);
        long steps = 0;
        if (symbols > 2) {
            steps = Long.MAX_VALUE;
            double size = 0;
            for (int r = 1; r < runs; r++) {
                size += Math.abs(ranks[runStarts[r]] - ranks[runStarts[r] - 1]) - 1;
            }
            int around = BitWriter.orderFor(runs < 2 ? 0 : size / (runs - 1));
            for (int order = Math.max(0, around - 1); order <= around + 1; order++) {
                long total = runs - 1;
                for (int r = 1; r < runs; r++) {
                    total += BitWriter.golombBits(Math.abs(ranks[runStarts[r]] - ranks[runStarts[r] - 1]) - 1, order);
                }
                if (total < steps) {
                    steps = total;
                    stepOrder = order;
                }
            }
            stepsPacked = (long) width * (runs - 1) < steps;
            steps = 6 + Math.min(steps, (long) width * (runs - 1));
        }
        return BitWriter.golombBits(runs - 1, 3) + 5 + width + lengths + steps;
    }

    private long countBits() {
        countOrder = BitWriter.orderFor(count / (double) symbols - 1);
        long best = Long.MAX_VALUE;
        int around = countOrder;
        for (int order = Math.max(0, around - 3); order <= around + 1; order++) {
            long size = 5;
            for (int s = 0; s < symbols - 1; s++) {
                size += BitWriter.golombBits(counts[s] - 1, order);
            }
            if (size < best) {
                best = size;
                countOrder = order;
            }
        }
        long following = 5;
        int order = FIRST_ORDER;
        for (int s = 0; s < symbols - 1; s++) {
            following += BitWriter.golombBits(counts[s] - 1, order);
            order = orderAfter(counts[s]);
        }
        if (following < best) {
            best = following;
            countOrder = FOLLOWING;
        }
        return best;
    }

    /** The order for how often a symbol occurs, given the one below it: neighbouring bins are about equally full. */
    private static int orderAfter(int count) {
        return Math.max(0, 30 - Integer.numberOfLeadingZeros(count));
    }

    /** About how many bits {@link #write} takes. */
    long bits() {
        return bits;
    }

    /** Writes it; {@code last} when nothing follows, so that its length need not be told. */
    void write(BitWriter out, boolean last) {
        if (symbols <= 1 || count == 0) {
            return;
        }
        out.write(kind, KIND_BITS);
        if (kind == RUNS) {
            writeRuns(out);
            return;
        }
        out.write(countOrder, 5);
        int order = countOrder == FOLLOWING ? FIRST_ORDER : countOrder;
        for (int s = 0; s < symbols - 1; s++) {
            out.golomb(counts[s] - 1, order);
            order = countOrder == FOLLOWING ? orderAfter(counts[s]) : order;
        }
        switch (kind) {
            case PACKED -> {
                int width = width(symbols);
                for (int i = 0; i < count; i++) {
                    out.write(ranks[i], width);
                }
            }
            case STATIC -> writeMeasured(out, last, Objects.requireNonNull(staticCode)::write);
            case HISTOGRAM -> writeMeasured(out, last, to -> HistogramCode.write(ranks, count, counts, to));
            default -> {
                out.align(); // the coder's bytes begin at a byte
                out.append(Objects.requireNonNull(adaptive));
            }
        }
    }

    private interface Part {
        void write(BitWriter out);
    }

    private static void writeMeasured(BitWriter out, boolean last, Part part) {
        if (last) {
            part.write(out);
            return;
        }
        BitWriter own = new BitWriter();
        part.write(own);
        out.golomb(own.bitCount(), LENGTH_ORDER);
        out.append(own);
    }

    private void writeRuns(BitWriter out) {
        int runs = runStarts.length;
        int width = width(symbols);
        out.golomb(runs - 1, 3);
        out.write(runOrder, 5);
        if (symbols > 2) {
            out.flag(stepsPacked);
            out.write(stepOrder, 5);
        }
        out.write(ranks[0], width);
        for (int r = 1; r < runs; r++) {
            out.golomb(runStarts[r] - runStarts[r - 1] - 1, runOrder);
            if (symbols > 2) {
                long step = ranks[runStarts[r]] - ranks[runStarts[r] - 1];
                if (stepsPacked) {
                    out.write(ranks[runStarts[r]], width);
                } else {
                    out.flag(step < 0);
                    out.golomb(Math.abs(step) - 1, stepOrder);
                }
            }
        }
    }

    /**
     * What was read.
     *
     * @param counts how often each symbol occurs; empty when the runs tell
     */
    record Read(Sequence sequence, int[] counts) {}

    /** Reads the sequence of {@code count} ranks below {@code symbols}; decoding may wait until it is needed. */
    static Read read(BitReader in, int count, int symbols, boolean last) {
        if (count == 0 || symbols == 0) {
            Damage.check(count == 0, "rows without symbols");
            return new Read(Sequence.constant(0, 0), new int[symbols]);
        }
        if (symbols == 1) {
            return new Read(Sequence.constant(count, 0), new int[] {count});
        }
        int kind = in.readInt(KIND_BITS);
        if (kind == RUNS) {
            return new Read(Sequence.ofRuns(count, readRuns(in, count, symbols)), new int[0]);
        }
        Damage.check(kind <= ADAPTIVE, "an unknown layout of a sequence: " + kind);
        int[] counts = readCounts(in, count, symbols);
        if (kind == PACKED) {
            int width = width(symbols);
            BitReader from = in.fork();
            in.position(in.position() + (long) width * count);
            return new Read(
                    Sequence.lazy(count, () -> {
                        BitReader reader = from.fork();
                        int[] ranks = new int[count];
                        for (int i = 0; i < count; i++) {
                            ranks[i] = reader.readInt(width);
                        }
                        return checked(ranks, symbols);
                    }),
                    counts);
        }
        if (kind == ADAPTIVE) {
            in.align();
            BitReader from = in.fork();
            AdaptiveCode.skip(in);
            return new Read(lazy(from, count, symbols, AdaptiveCode::read), counts);
        }
        Damage.check(kind == STATIC || symbols <= HistogramCode.MOST_SYMBOLS, "too many symbols for their code");
        long length = last ? in.remaining() : in.golomb(LENGTH_ORDER);
        Damage.check(length >= 0 && length <= in.remaining(), "a sequence is longer than the segment");
        BitReader from = in.fork();
        in.position(in.position() + length);
        return new Read(
                kind == STATIC
                        ? lazy(from, count, symbols, StaticCode::read)
                        : lazy(from, count, symbols, (r, n, out) -> HistogramCode.read(r, n, counts, out)),
                counts);
    }

    private interface Code {
        void read(BitReader in, int count, long[] out);
    }

    private static Sequence lazy(BitReader from, int count, int symbols, Code code) {
        return Sequence.lazy(count, () -> {
            long[] values = new long[count];
            code.read(from.fork(), count, values);
            int[] ranks = new int[count];
            long all = 0;
            for (int i = 0; i < count; i++) {
                all |= values[i] | symbols - 1 - values[i]; // negative if any is out of range
                ranks[i] = (int) values[i];
            }
            Damage.check(all >= 0, "a rank is out of its range");
            return ranks;
        });
    }

    private static int[] checked(int[] ranks, int symbols) {
        int all = 0;
        for (int rank : ranks) {
            all |= rank | symbols - 1 - rank;
        }
        Damage.check(all >= 0, "a rank is out of its range");
        return ranks;
    }

    private static int[] readCounts(BitReader in, int count, int symbols) {
        Damage.check(symbols <= count, "more symbols than rows");
        int told = in.readInt(5);
        int order = told == FOLLOWING ? FIRST_ORDER : told;
        int[] counts = new int[symbols];
        int left = count;
        for (int s = 0; s < symbols - 1; s++) {
            counts[s] = in.count(order, left, "how often a symbol occurs") + 1;
            order = told == FOLLOWING ? orderAfter(counts[s]) : order;
            left -= counts[s];
            Damage.check(left > 0, "more symbols than rows");
        }
        counts[symbols - 1] = left;
        return counts;
    }

    private static Sequence.Runs readRuns(BitReader in, int count, int symbols) {
        int runs = in.count(3, count - 1, "the number of runs") + 1;
        int lengthOrder = in.readInt(5);
        boolean packed = symbols > 2 && in.flag();
        int stepOrder = symbols > 2 ? in.readInt(5) : 0;
        int width = width(symbols);
        int[] ranks = new int[runs];
        int[] ends = new int[runs];
        int rank = in.readInt(width);
        int at = 0;
        int all = 0;
        for (int r = 0; r < runs; r++) {
            if (r > 0) {
                at += in.count(lengthOrder, count, "a run") + 1;
                Damage.check(at < count, "a run ends behind the last row");
                ends[r - 1] = at;
                if (symbols == 2) {
                    rank = 1 - rank;
                } else if (packed) {
                    rank = in.readInt(width);
                } else {
                    boolean down = in.flag();
                    int step = in.count(stepOrder, symbols, "a step between runs") + 1;
                    rank += down ? -step : step;
                }
            }
            all |= rank | symbols - 1 - rank;
            Damage.check(all >= 0, "a rank is out of its range");
            ranks[r] = rank;
        }
        ends[runs - 1] = count;
        return new Sequence.Runs(ranks, ends, runs);
    }
}
