package dev.millrace.engine.state.cold;

import dev.millrace.operator.KeyGroups;

/**
 * Where a hash is in a table that is cut into 2^{@code bits} parts, each a stretch of its index: the part is the bits below those of the key
 * group, the place in it the key group and then the bits behind the part's. Places are of 39 bits.
 */
record ColdPlaces(int bits) {
    /** The bits of a place below the key group. */
    private static final int BELOW = 31;

    int part(long hash) {
        return (int) (hash << KeyGroups.BITS >>> 1 >>> Long.SIZE - 1 - bits);
    }

    long of(long hash) {
        return firstOf(KeyGroups.of(hash)) | hash << KeyGroups.BITS + bits >>> Long.SIZE - BELOW;
    }

    /** The first place of a key group. */
    static long firstOf(int group) {
        return (long) group << BELOW;
    }
}
