package dev.millrace.engine.join;

import java.util.Arrays;
import java.util.Optional;

/** Pairs of rows that may meet, some at a time: a row of the batch at hand each, and one of the other side. */
final class Pairs {
    private static final int FIRST_PAIRS = 64; // most queries are small

    private final Optional<Residual> residual;
    private final int most;
    private int[] positions = new int[FIRST_PAIRS];
    private long[] ours = new long[FIRST_PAIRS];
    private long[] theirs = new long[FIRST_PAIRS];
    private int count;

    /** @param batchRows how many pairs are taken at a time, if it is not very few */
    Pairs(int batchRows, Optional<Residual> residual) {
        this.residual = residual;
        this.most = Math.max(FIRST_PAIRS, batchRows);
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

    /**
     * Keeps those that meet by the residual condition, and returns how many.
     *
     * @param port of our rows
     * @param weights of those that were added
     */
    int select(int port, RowColumns our, RowColumns their, Residual.Weights weights) {
        if (count > 0 && residual.isPresent()) {
            int all = count;
            Residual.Source mine = (column, field) -> our.of(column, field, ours, all);
            Residual.Source others = (column, field) -> their.of(column, field, theirs, all);
            Residual condition = residual.get();
            count = condition.select(port == 0 ? mine : others, port == 0 ? others : mine, all, weights);
            int[] selected = condition.selected();
            for (int i = 0; i < count; i++) {
                positions[i] = positions[selected[i]];
                ours[i] = ours[selected[i]];
                theirs[i] = theirs[selected[i]];
            }
        }
        return count;
    }

    /** Where a pair was before the last {@link #select}. */
    int before(int i) {
        return residual.isPresent() ? residual.get().selected()[i] : i;
    }

    int count() {
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

    /** Our rows, of which as many are pairs' as {@link #count} says. */
    long[] ours() {
        return ours;
    }

    /** The other side's rows, of which as many are pairs' as {@link #count} says. */
    long[] theirs() {
        return theirs;
    }

    void clear() {
        count = 0;
    }
}
