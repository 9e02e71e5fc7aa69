package dev.millrace.engine.join;

import dev.millrace.engine.state.RowCodec;
import java.util.Arrays;
import java.util.Optional;

/** Pairs of rows that may meet, some at a time: a row of the batch at hand each, and one of the other side. */
final class Pairs {
    private final Optional<Residual> residual;
    private final RowCodec left;
    private final RowCodec right;
    private static final int FIRST_PAIRS = 64; // most queries are small

    private final int most;
    private int[] positions;
    private long[] ours;
    private long[] theirs;
    private int count;

    Pairs(int most, Optional<Residual> residual, RowCodec left, RowCodec right) {
        this.residual = residual;
        this.left = left;
        this.right = right;
        this.most = most;
        int first = Math.min(FIRST_PAIRS, most);
        this.positions = new int[first];
        this.ours = new long[first];
        this.theirs = new long[first];
    }

    /**
     * Adds a pair; returns whether they are to be taken before another one can be added.
     *
     * @param position of our row in its encoding
     */
    boolean add(int position, long our, long their) {
        positions[count] = position;
        ours[count] = our;
        theirs[count] = their;
        return ++count == positions.length && !hasRoom();
    }

    private boolean hasRoom() {
        if (count == most) {
            return false;
        }
        int more = Math.min(4 * count, most);
        positions = Arrays.copyOf(positions, more);
        ours = Arrays.copyOf(ours, more);
        theirs = Arrays.copyOf(theirs, more);
        return true;
    }

    /** Keeps those that meet by the residual condition, and returns how many. */
    int select(int port) {
        if (count > 0 && residual.isPresent()) {
            Residual condition = residual.get();
            count = condition.select(left, port == 0 ? ours : theirs, right, port == 0 ? theirs : ours, count);
            int[] selected = condition.selected();
            for (int i = 0; i < count; i++) {
                positions[i] = positions[selected[i]];
                ours[i] = ours[selected[i]];
                theirs[i] = theirs[selected[i]];
            }
        }
        return count;
    }

    int position(int i) {
        return positions[i];
    }

    long our(int i) {
        return ours[i];
    }

    long their(int i) {
        return theirs[i];
    }

    void clear() {
        count = 0;
    }
}
