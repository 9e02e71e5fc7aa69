package dev.millrace.engine.aggregate.number;

import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import java.math.BigDecimal;

/**
 * Sums of numbers of any size that rows are taken from, too. What is not finite is counted, and so are the rows of each number
 * of digits after the point, as the sum shows the most of those that are there. A sum is a byte string in a slot:
 *
 * <pre>
 *   rows that are NaN | Infinity | -Infinity, 8 bytes each | bytes of the sum, 4 bytes | number of scales, 4 bytes
 *        | room for the sum of the others, as BignumBytes | per scale: the scale and its rows, 8 bytes each
 * </pre>
 *
 * While sums and values fit 64 bits nothing is allocated: the sum is written where it is.
 */
public final class BignumSums {
    private static final int SUM_BYTES = 24;
    private static final int SCALES = 28;
    private static final int SUM = 32;
    private static final int SCALE_BYTES = 16;
    private static final int LEAST_ROOM = BignumBytes.MOST_FIXED_BYTES + 7 & -8;

    private BignumSums() {}

    /** Adds a value {@code weight} times. */
    public static void add(StateMemory memory, long slot, long address, int length, long weight) {
        add(memory, slot, address, length, BignumBytes.shownScale(address, length), weight);
    }

    /** The same of a distinct value: its key in a slot, and behind that a word with the scale that is shown, or -1. */
    public static void addKept(StateMemory memory, long slot, long value, long weight) {
        add(memory, slot, ByteSlots.address(value), ByteSlots.length(value), shownScale(value), weight);
    }

    private static int shownScale(long value) {
        return (int) Memory.getLong(value + SlotKind.BYTES.bytes());
    }

    private static void add(StateMemory memory, long slot, long address, int length, int shown, long weight) {
        if (!BignumBytes.isFinite(address)) {
            addEndless(memory, slot, address, weight);
            return;
        }
        int scale = BignumBytes.scale(address, length);
        addRows(memory, slot, shown < 0 ? scale : shown, weight);
        long sum = sum(slot);
        long mantissa = BignumBytes.mantissa(address, length);
        if (mantissa == BignumBytes.UNFIT || !addFixed(sum, mantissa, scale, weight)) {
            addAny(memory, slot, Bignum.at(address, length), weight);
        }
    }

    /** Adds the square of a value {@code weight} times. */
    public static void addSquare(StateMemory memory, long slot, long address, int length, long weight) {
        addSquare(memory, slot, address, length, BignumBytes.shownScale(address, length), weight);
    }

    /** The same of a distinct value, as {@link #addKept} has it. */
    public static void addSquareKept(StateMemory memory, long slot, long value, long weight) {
        addSquare(memory, slot, ByteSlots.address(value), ByteSlots.length(value), shownScale(value), weight);
    }

    private static void addSquare(StateMemory memory, long slot, long address, int length, int shown, long weight) {
        if (!BignumBytes.isFinite(address)) {
            addEndless(memory, slot, address, weight);
            return;
        }
        Bignum kept = Bignum.at(address, length);
        Bignum value = shown < 0 ? kept : kept.withScale(shown);
        Bignum square = value.multiply(value);
        addRows(memory, slot, square.scale(), weight);
        addAny(memory, slot, square, weight);
    }

    /** Adds a sum that is given by its byte string, which may be empty. */
    public static void merge(StateMemory memory, long slot, long address, int length) {
        if (length == 0) {
            return;
        }
        begin(memory, slot);
        for (int at = 0; at < SUM_BYTES; at += 8) {
            long state = ByteSlots.address(slot);
            Memory.putLong(state + at, Memory.getLong(state + at) + Memory.getLong(address + at));
        }
        int scales = Memory.getInt(address + SCALES);
        for (int i = 0; i < scales; i++) {
            long entry = address + length - SCALE_BYTES * (long) (scales - i);
            addRows(memory, slot, (int) Memory.getLong(entry), Memory.getLong(entry + 8));
        }
        addAny(memory, slot, Bignum.at(address + SUM, Memory.getInt(address + SUM_BYTES)), 1);
    }

    /** The sum; 0 of no rows. */
    public static Bignum value(long slot) {
        if (Extremes.isAbsent(slot)) {
            return Bignum.ZERO;
        }
        long state = ByteSlots.address(slot);
        boolean up = Memory.getLong(state + 8) > 0;
        boolean down = Memory.getLong(state + 16) > 0;
        if (Memory.getLong(state) > 0 || up && down) {
            return Bignum.NAN;
        }
        if (up || down) {
            return up ? Bignum.INFINITY : Bignum.NEGATIVE_INFINITY;
        }
        int shown = 0;
        for (int i = 0; i < scales(slot); i++) {
            long entry = entry(slot, i);
            shown = Memory.getLong(entry + 8) > 0 ? Math.max(shown, (int) Memory.getLong(entry)) : shown;
        }
        Bignum sum = Bignum.at(state + SUM, Memory.getInt(state + SUM_BYTES));
        return sum.withScale(Math.max(shown, sum.leastScale()));
    }

    private static void addEndless(StateMemory memory, long slot, long address, long weight) {
        begin(memory, slot);
        int at = BignumBytes.isNan(address) ? 0 : BignumBytes.sign(address) > 0 ? 8 : 16;
        long count = ByteSlots.address(slot) + at;
        Memory.putLong(count, Memory.getLong(count) + weight);
    }

    /** Counts rows of a scale, in the place of one that has none if it is new. */
    private static void addRows(StateMemory memory, long slot, int scale, long weight) {
        begin(memory, slot);
        long free = 0;
        for (int i = 0; i < scales(slot); i++) {
            long entry = entry(slot, i);
            if (Memory.getLong(entry) == scale) {
                Memory.putLong(entry + 8, Memory.getLong(entry + 8) + weight);
                return;
            }
            free = Memory.getLong(entry + 8) == 0 ? entry : free;
        }
        if (free == 0) {
            resize(memory, slot, room(slot), scales(slot) + 1);
            free = entry(slot, scales(slot) - 1);
        }
        Memory.putLong(free, scale);
        Memory.putLong(free + 8, weight);
    }

    /** Adds in registers; whether it could. */
    private static boolean addFixed(long sum, long mantissa, int scale, long weight) {
        int length = Memory.getInt(sum - SUM + SUM_BYTES);
        long before = BignumBytes.mantissa(sum, length);
        int sumScale = BignumBytes.scale(sum, length);
        int common = Math.max(scale, sumScale);
        long times = Math.abs(weight);
        long added = BignumBytes.scaledUp(Math.abs(mantissa), common - scale);
        if (before == BignumBytes.UNFIT || added == BignumBytes.UNFIT || Math.multiplyHigh(added, times) != 0) {
            return false;
        }
        long kept = BignumBytes.scaledUp(Math.abs(before), common - sumScale);
        long product = added * times;
        if (kept == BignumBytes.UNFIT || product < 0) {
            return false;
        }
        long from = before < 0 ? -kept : kept;
        long by = mantissa < 0 == weight < 0 ? product : -product;
        long after = from + by;
        if (((from ^ after) & (by ^ after)) < 0) {
            return false;
        }
        Memory.putInt(sum - SUM + SUM_BYTES, BignumBytes.write(sum, after, common));
        return true;
    }

    private static void addAny(StateMemory memory, long slot, Bignum value, long weight) {
        Bignum before = Bignum.at(sum(slot), Memory.getInt(sum(slot) - SUM + SUM_BYTES));
        Bignum after = before.add(weight == 1 ? value : value.multiply(Bignum.of(BigDecimal.valueOf(weight))));
        if (after.mostBytes() > room(slot)) {
            resize(memory, slot, 2 * after.mostBytes() + 7 & -8, scales(slot));
        }
        long sum = sum(slot);
        Memory.putInt(sum - SUM + SUM_BYTES, after.write(sum));
    }

    private static long sum(long slot) {
        return ByteSlots.address(slot) + SUM;
    }

    private static int scales(long slot) {
        return Memory.getInt(ByteSlots.address(slot) + SCALES);
    }

    /** Bytes that the sum may have. */
    private static int room(long slot) {
        return ByteSlots.length(slot) - SUM - SCALE_BYTES * scales(slot);
    }

    private static long entry(long slot, int index) {
        return sum(slot) + room(slot) + SCALE_BYTES * (long) index;
    }

    private static void begin(StateMemory memory, long slot) {
        if (Extremes.isAbsent(slot)) {
            int length = SUM + LEAST_ROOM;
            long block = memory.allocate((int) ByteSlots.blockBytes(length));
            long fresh = Memory.allocate(length);
            try {
                Memory.fill(fresh, length, (byte) 0);
                Memory.putInt(fresh + SUM_BYTES, BignumBytes.write(fresh + SUM, 0, 0));
                ByteSlots.storeIn(block, slot, fresh, length);
            } finally {
                Memory.free(fresh);
            }
        }
    }

    private static void resize(StateMemory memory, long slot, int room, int scales) {
        long state = ByteSlots.address(slot);
        int kept = Math.min(scales(slot), scales);
        int length = SUM + room + SCALE_BYTES * scales;
        long fresh = Memory.allocate(length);
        try {
            Memory.fill(fresh, length, (byte) 0);
            Memory.copy(state, fresh, SUM + (long) Math.min(room, room(slot)));
            Memory.copy(entry(slot, 0), fresh + SUM + room, SCALE_BYTES * (long) kept);
            Memory.putInt(fresh + SCALES, scales);
            ByteSlots.free(memory, slot);
            ByteSlots.store(memory, slot, fresh, length);
        } finally {
            Memory.free(fresh);
        }
    }
}
