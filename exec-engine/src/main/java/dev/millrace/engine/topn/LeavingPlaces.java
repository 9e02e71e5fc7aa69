package dev.millrace.engine.topn;

import java.util.Arrays;

/** The places of rows that others pushed out since they were emitted. */
final class LeavingPlaces {
    private long[] places = new long[64];
    private int count;

    void add(long place) {
        if (count == places.length) {
            places = Arrays.copyOf(places, 2 * count);
        }
        places[count++] = place;
    }

    int count() {
        return count;
    }

    long get(int i) {
        return places[i];
    }

    void clear() {
        count = 0;
    }
}
