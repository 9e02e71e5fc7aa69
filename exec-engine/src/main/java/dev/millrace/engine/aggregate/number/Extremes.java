package dev.millrace.engine.aggregate.number;

import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;

/** Least and greatest values that are no plain integers: text and bytes, intervals, UUIDs; each in a slot of 16 bytes. */
public final class Extremes {
    /** The last byte of a text slot without a value; a short text has its length there and a long one 255. */
    private static final long ABSENT = 0xFEL << 56;

    private static final long DAY_NANOS = 86_400_000_000_000L;

    private Extremes() {}

    public static final long[] NO_BYTES = {0, ABSENT};
    public static final long[] NO_INTERVAL = {Long.MIN_VALUE, 0}; // months of 0 and days of the least integer

    public static void minBytes(StateMemory memory, long slot, long address, int length) {
        if (isAbsent(slot) || compareBytes(slot, address, length) > 0) {
            replace(memory, slot, address, length);
        }
    }

    public static void maxBytes(StateMemory memory, long slot, long address, int length) {
        if (isAbsent(slot) || compareBytes(slot, address, length) < 0) {
            replace(memory, slot, address, length);
        }
    }

    public static boolean isAbsent(long slot) {
        return Memory.getByte(slot + 15) == (byte) 0xFE;
    }

    private static int compareBytes(long slot, long address, int length) {
        return Memory.compare(ByteSlots.address(slot), ByteSlots.length(slot), address, length);
    }

    private static void replace(StateMemory memory, long slot, long address, int length) {
        ByteSlots.free(memory, slot);
        ByteSlots.store(memory, slot, address, length);
    }

    /** An interval given as the 16 bytes of its vector: months, days, nanoseconds. */
    public static void minInterval(long slot, long monthsDays, long nanos) {
        if (noInterval(slot) || compareIntervals(monthsDays, nanos, slot) < 0) {
            Memory.putLong(slot, monthsDays);
            Memory.putLong(slot + 8, nanos);
        }
    }

    public static void maxInterval(long slot, long monthsDays, long nanos) {
        if (noInterval(slot) || compareIntervals(monthsDays, nanos, slot) > 0) {
            Memory.putLong(slot, monthsDays);
            Memory.putLong(slot + 8, nanos);
        }
    }

    private static boolean noInterval(long slot) {
        return Memory.getLong(slot) == Long.MIN_VALUE;
    }

    private static int compareIntervals(long monthsDays, long nanos, long slot) {
        return compareIntervals(monthsDays, nanos, Memory.getLong(slot), Memory.getLong(slot + 8));
    }

    /** Orders intervals as PostgreSQL does: a month is 30 days, a day 24 hours. */
    public static int compareIntervals(long monthsDays, long nanos, long otherMonthsDays, long otherNanos) {
        long days = days(monthsDays) + Math.floorDiv(nanos, DAY_NANOS);
        long otherDays = days(otherMonthsDays) + Math.floorDiv(otherNanos, DAY_NANOS);
        return days != otherDays
                ? Long.compare(days, otherDays)
                : Long.compare(Math.floorMod(nanos, DAY_NANOS), Math.floorMod(otherNanos, DAY_NANOS));
    }

    private static long days(long monthsDays) {
        return 30L * (int) monthsDays + (int) (monthsDays >> 32);
    }

    /** A UUID given as the two little-endian words of its 16 big-endian bytes. */
    public static void minUuid(long slot, long first, long second) {
        if (compareUuids(first, second, Memory.getLong(slot), Memory.getLong(slot + 8)) < 0) {
            Memory.putLong(slot, first);
            Memory.putLong(slot + 8, second);
        }
    }

    public static void maxUuid(long slot, long first, long second) {
        if (compareUuids(first, second, Memory.getLong(slot), Memory.getLong(slot + 8)) > 0) {
            Memory.putLong(slot, first);
            Memory.putLong(slot + 8, second);
        }
    }

    public static int compareUuids(long first, long second, long otherFirst, long otherSecond) {
        int order = Long.compareUnsigned(Long.reverseBytes(first), Long.reverseBytes(otherFirst));
        return order != 0 ? order : Long.compareUnsigned(Long.reverseBytes(second), Long.reverseBytes(otherSecond));
    }
}
