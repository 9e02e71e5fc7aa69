package dev.millrace.planner.condense;

import java.util.TreeSet;

/** Between which times a query does not tell rows apart: slices of one length, and cuts. Built up from what it does with time. One thread. */
final class Slices {
    private static final int MOST_CUTS = 1_000;

    private long micros; // 0 before any slice
    private long offset;
    private final TreeSet<Long> cuts = new TreeSet<>();
    private boolean tooMany;

    /** Tells apart the slices of {@code length} that begin at {@code from} and at each further length. */
    void every(long length, long from) {
        if (micros == 0) {
            micros = length;
            offset = Math.floorMod(from, length);
            return;
        }
        long shift = Math.floorMod(from, length);
        micros = gcd(gcd(micros, length), Math.abs(offset - shift));
        offset = Math.floorMod(offset, micros);
    }

    /** Tells apart what is before a time from it and what is behind. */
    void at(long time) {
        if (cuts.size() == MOST_CUTS) {
            tooMany = true;
        } else {
            cuts.add(time);
        }
    }

    /** Tells apart what is not behind a time from what is. */
    void behind(long time) {
        if (time < Long.MAX_VALUE) {
            at(time + 1);
        }
    }

    boolean isTooMany() {
        return tooMany;
    }

    long micros() {
        return micros;
    }

    long offset() {
        return offset;
    }

    TreeSet<Long> cuts() {
        return cuts;
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
