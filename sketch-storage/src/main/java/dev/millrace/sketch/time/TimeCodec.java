package dev.millrace.sketch.time;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.form.ColumnPlan;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.schema.Feature;
import java.util.Optional;

/**
 * Writes and reads times.
 *
 * <pre>
 * 2 bits   0 regular with the version's period, 1 regular with its own, 2 steps, 3 a chain within a bound
 * 1 bit    where the schema allows a bound, and this is no chain: times are within it, and not exact
 * start    1 bit: where the version expects it; else 1 bit: a multiple of the version's period from its origin (golomb(12) of
 *          zigzag), else sized of zigzag of the distance
 * 1        sized period, 1 bit: 20 bits of fraction and 20 of phase follow
 * 2        sized unit, a column of the steps from row to row in units
 * 3        sized period, 20 bits of fraction, a column of how far each row is from where the one before it leads to
 * </pre>
 */
public final class TimeCodec {
    private static final int REGULAR = 0;
    private static final int OWN_PERIOD = 1;
    private static final int STEPS = 2;
    private static final int CHAIN = 3;
    private static final int KIND_BITS = 2;
    private static final int START_ORDER = 12;
    private static final int FRACTION = 1 << Times.Regular.FRACTION_BITS;
    private static final BinSet WHOLE = new BinSet(0, 1, java.util.List.of());

    private TimeCodec() {}

    /**
     * Where a version's times begin and how far apart they usually are.
     *
     * @param origin in ticks
     * @param period in ticks; 0 when there is none
     * @param sequence the number of the segment that begins at the origin
     */
    public record Clockwork(long origin, long period, long sequence) {
        /** Where a segment begins if all since the origin were full and regular; wraps around as longs do. */
        public long expected(long segment, int segmentRows) {
            return origin + (segment - sequence) * segmentRows * period;
        }
    }

    /**
     * What is known of a segment's times before they are read.
     *
     * @param clockwork of its version
     * @param expectedStart by {@link Clockwork#expected}
     * @param mayBeOff whether the schema lets times be off
     * @param format of the segment
     */
    public record Known(Clockwork clockwork, long expectedStart, boolean mayBeOff, int format) {}

    /**
     * Times that were read.
     *
     * @param exact whether none is off
     */
    public record Decoded(Times times, boolean exact) {}

    /**
     * Writes the times of at least one row.
     *
     * @param boundTicks how far times may be moved now
     * @param areOff whether those given are off already, within the schema's bound
     */
    public static void write(
            BitWriter out, long[] ticks, int rows, long boundTicks, boolean areOff, Known known, Keep keep) {
        Clockwork clockwork = known.clockwork();
        Optional<Times.Regular> regular = regular(ticks, rows);
        if (regular.isPresent()) {
            Times.Regular found = regular.get();
            boolean usual = rows == 1 || found.fraction() == 0 && found.period() == clockwork.period();
            out.write(usual ? REGULAR : OWN_PERIOD, KIND_BITS);
            writeStart(out, ticks[0], areOff, known);
            if (!usual) {
                out.sized(BitWriter.zigzag(found.period()));
                out.flag(found.fraction() != 0);
                if (found.fraction() != 0) {
                    out.write(found.fraction(), Times.Regular.FRACTION_BITS);
                    out.write(found.phase(), Times.Regular.FRACTION_BITS);
                }
            }
            return;
        }
        long unit = unit(ticks, rows);
        ColumnPlan steps = column(steps(ticks, rows, unit), rows - 1, keep);
        if (boundTicks > 0) {
            Optional<Chain> chain = Chain.of(ticks, rows, boundTicks);
            if (chain.isPresent()) {
                ColumnPlan misses = column(chain.get().misses(), rows, keep);
                if (misses.bits() + Times.Regular.FRACTION_BITS < steps.bits()) {
                    out.write(CHAIN, KIND_BITS);
                    writePlace(out, ticks[0], known);
                    out.sized(chain.get().period());
                    out.write(chain.get().fraction(), Times.Regular.FRACTION_BITS);
                    misses.write(out, false);
                    return;
                }
            }
        }
        out.write(STEPS, KIND_BITS);
        writeStart(out, ticks[0], areOff, known);
        out.sized(unit);
        steps.write(out, false);
    }

    /** What to keep in a version for times like these: where they begin, and the period or else the unit of their steps. */
    public static Clockwork clockwork(long[] ticks, int rows, long sequence) {
        Optional<Times.Regular> regular = regular(ticks, rows);
        long period = regular.isPresent()
                ? regular.get().fraction() == 0 ? regular.get().period() : 0
                : unit(ticks, rows);
        return new Clockwork(ticks[0], Math.max(0, period), sequence);
    }

    private static ColumnPlan column(long[] values, int count, Keep keep) {
        Binned binned = GridBins.nearest(values, count, 1);
        return NumberColumnCodec.plan(new boolean[count], count, binned, new double[0], count, WHOLE, keep);
    }

    private static void writeStart(BitWriter out, long start, boolean areOff, Known known) {
        if (known.mayBeOff()) {
            out.flag(areOff);
        }
        writePlace(out, start, known);
    }

    private static void writePlace(BitWriter out, long start, Known known) {
        Clockwork clockwork = known.clockwork();
        out.flag(start == known.expectedStart());
        if (start == known.expectedStart()) {
            return;
        }
        long distance = start - clockwork.origin();
        boolean whole = clockwork.period() > 0 && distance % clockwork.period() == 0;
        out.flag(whole);
        if (whole) {
            out.golomb(BitWriter.zigzag(distance / clockwork.period()), START_ORDER);
        } else {
            out.sized(BitWriter.zigzag(distance));
        }
    }

    private static long readPlace(BitReader in, Known known) {
        Clockwork clockwork = known.clockwork();
        if (known.format() > 1 && in.flag()) {
            return known.expectedStart();
        }
        return in.flag()
                ? clockwork.origin() + BitReader.unzigzag(in.golomb(START_ORDER)) * clockwork.period()
                : clockwork.origin() + BitReader.unzigzag(in.sized());
    }

    private static long[] steps(long[] ticks, int rows, long unit) {
        long[] steps = new long[rows - 1];
        for (int i = 1; i < rows; i++) {
            steps[i - 1] = (ticks[i] - ticks[i - 1]) / unit;
        }
        return steps;
    }

    /** The greatest common divisor of all steps; 1 where they are too large to tell. */
    static long unit(long[] ticks, int rows) {
        long unit = 0;
        for (int i = 1; i < rows && unit != 1; i++) {
            long step = ticks[i] - ticks[i - 1];
            if (step == Long.MIN_VALUE || (step < 0) != (ticks[i] < ticks[i - 1])) {
                return 1;
            }
            long a = Math.abs(step);
            while (a != 0) {
                long rest = unit % a;
                unit = a;
                a = rest;
            }
        }
        return Math.max(unit, 1);
    }

    /** The period that all rows follow, if they do, to the tick. */
    static Optional<Times.Regular> regular(long[] ticks, int rows) {
        long period = rows < 2 ? 0 : ticks[1] - ticks[0];
        boolean exact = true;
        for (int i = 2; i < rows && exact; i++) {
            exact = ticks[i] - ticks[i - 1] == period;
        }
        if (exact) {
            return Optional.of(new Times.Regular(rows, ticks[0], period, 0, 0));
        }
        for (int i = 2; i < rows; i++) {
            long miss = ticks[i] - ticks[i - 1] - period;
            if (miss > 1 || miss < -1) {
                return Optional.empty();
            }
        }
        return fractional(ticks, rows, period).filter(found -> follows(found, ticks));
    }

    /** Whether all rows are where they are to the tick; not so where the arithmetic above had too few bits. */
    private static boolean follows(Times.Regular regular, long[] ticks) {
        for (int i = 0; i < regular.rows(); i++) {
            if (regular.at(i) != ticks[i]) {
                return false;
            }
        }
        return true;
    }

    private static Optional<Times.Regular> fractional(long[] ticks, int rows, long firstPeriod) {
        // The slope of the best line through all rows, less a period that keeps the numbers small.
        double middle = (rows - 1) / 2.0;
        double product = 0;
        double squares = 0;
        for (int i = 0; i < rows; i++) {
            double distance = ticks[i] - ticks[0] - i * firstPeriod;
            product += (i - middle) * distance;
            squares += (i - middle) * (i - middle);
        }
        double slope = firstPeriod + product / squares;
        long period = (long) Math.floor(slope);
        int fraction = (int) Math.min(FRACTION - 1, Math.round((slope - period) * FRACTION));
        // Row i is at floor(i * slope + phase): each row leaves an interval for the phase.
        long low = 0;
        long high = FRACTION - 1;
        for (int i = 0; i < rows; i++) {
            long distance = ticks[i] - ticks[0] - i * period << Times.Regular.FRACTION_BITS;
            low = Math.max(low, distance - (long) i * fraction);
            high = Math.min(high, distance - (long) i * fraction + FRACTION - 1);
        }
        return low > high
                ? Optional.empty()
                : Optional.of(new Times.Regular(rows, ticks[0], period, fraction, (int) (low + high >>> 1)));
    }

    /** Reads the times of {@code rows} rows, at least one. */
    public static Decoded read(BitReader in, int rows, Known known) {
        int kind = in.readInt(KIND_BITS);
        boolean exact = kind != CHAIN;
        if (exact && known.mayBeOff()) {
            exact = known.format() > 1 && !in.flag(); // the first format does not tell
        }
        return new Decoded(read(in, rows, kind, readPlace(in, known), known.clockwork()), exact);
    }

    private static Times read(BitReader in, int rows, int kind, long start, Clockwork clockwork) {
        switch (kind) {
            case REGULAR -> {
                return new Times.Regular(rows, start, clockwork.period(), 0, 0);
            }
            case OWN_PERIOD -> {
                long period = BitReader.unzigzag(in.sized());
                boolean fractional = in.flag();
                int fraction = fractional ? in.readInt(Times.Regular.FRACTION_BITS) : 0;
                int phase = fractional ? in.readInt(Times.Regular.FRACTION_BITS) : 0;
                return new Times.Regular(rows, start, period, fraction, phase);
            }
            case STEPS -> {
                long unit = in.sized();
                Damage.check(rows > 1, "steps between fewer than two rows");
                Column steps = NumberColumnCodec.read(in, rows - 1, WHOLE, Feature.Kind.WHOLE, false);
                Damage.check(steps.nullCount() == 0, "a row without a time");
                return new Times.Listed(rows, () -> {
                    long[] ticks = new long[rows];
                    int[] ranks = steps.sequence().ranks();
                    NumberSymbols symbols = steps.numbers();
                    ticks[0] = start;
                    for (int i = 1; i < rows; i++) {
                        ticks[i] = ticks[i - 1] + symbols.whole(ranks[i - 1]) * unit;
                    }
                    return ticks;
                });
            }
            default -> {
                long period = in.sized();
                int fraction = in.readInt(Times.Regular.FRACTION_BITS);
                Column misses = NumberColumnCodec.read(in, rows, WHOLE, Feature.Kind.WHOLE, false);
                Damage.check(misses.nullCount() == 0, "a row without a time");
                return new Times.Listed(rows, () -> {
                    long[] all = new long[rows];
                    int[] ranks = misses.sequence().ranks();
                    NumberSymbols symbols = misses.numbers();
                    for (int i = 0; i < rows; i++) {
                        all[i] = symbols.whole(ranks[i]);
                    }
                    return Chain.follow(all, start, period, fraction);
                });
            }
        }
    }
}
