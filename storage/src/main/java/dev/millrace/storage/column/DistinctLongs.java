package dev.millrace.storage.column;

import java.util.Arrays;

/** Distinct values of some. */
final class DistinctLongs {
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private DistinctLongs() {}

    /** The distinct ones of the first so many values, sorted; none when they are more than the most. */
    static long[] sortedDistinct(long[] values, int count, int most) {
        int bits = Math.max(4, 65 - Long.numberOfLeadingZeros(2L * most));
        long[] table = new long[1 << bits]; // 0 for a free place
        int size = 0;
        boolean hasZero = false;
        for (int i = 0; i < count; i++) {
            long value = values[i];
            if (value == 0) {
                size += hasZero ? 0 : 1;
                hasZero = true;
            } else {
                int place = (int) (value * MIX >>> (64 - bits));
                while (table[place] != 0 && table[place] != value) {
                    place = place + 1 & table.length - 1;
                }
                if (table[place] == 0) {
                    table[place] = value;
                    size++;
                }
            }
            if (size > most) {
                return new long[0];
            }
        }
        long[] found = new long[size];
        int at = hasZero ? 1 : 0;
        for (long value : table) {
            if (value != 0) {
                found[at++] = value;
            }
        }
        Arrays.sort(found);
        return found;
    }
}
