package dev.millrace.expressions.kernel;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.expressions.function.TextArena;

/**
 * What generated filters and projections extend. One thread at a time; per batch:
 *
 * <pre>
 *   begin   select   project
 * </pre>
 */
public abstract class CalcKernel extends KernelCode implements AutoCloseable {
    protected int row; // written by the generated loops whose rows may take long

    /** Keeps texts that several loops use, until the next batch. */
    protected final TextArena arena;

    private final KernelConstants literals;

    /** @param literals in the order the source numbers them; taken over */
    protected CalcKernel(KernelConstants literals) {
        super(literals, literals.own(new NestedImages(literals.allocator())));
        this.literals = literals;
        this.arena = literals.own(new TextArena(literals.allocator()));
    }

    /** Called before the loops of a batch. */
    public void begin(int rows, long newNowMicros) {
        setNow(newNowMicros);
        arena.clear();
        images.clear();
        row = 0;
        beginRows(rows);
    }

    /** Makes room for values of so many rows that several loops use, and forgets the last ones. */
    protected void beginRows(int rows) {}

    /** Writes the rows that pass to {@code selected}, ascending, and returns how many they are. */
    public int select(Batch in, int[] selected) {
        throw new IllegalStateException("there is no condition");
    }

    /**
     * Computes projections over rows.
     *
     * @param selected the rows; not read when there is no condition: then all of them
     * @param out one for each projection, those that are plain columns left out
     */
    public void project(Batch in, int[] selected, int count, OutputColumn[] out) {
        throw new IllegalStateException("there are only columns");
    }

    /** The row that a loop of dear expressions is at; for who watches, on any thread. */
    public int row() {
        return row;
    }

    /** What a failure in a row is to the user; never returns. */
    protected static RuntimeException failed(RuntimeException failure, int row) {
        throw new RowFailure(row, explained(failure));
    }

    @Override
    public void close() {
        literals.close();
    }

    /** A failure and the row of the batch it happened in; the operator knows how many rows came before. */
    public static final class RowFailure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final int row;
        private final RuntimeException failure;

        RowFailure(int row, RuntimeException failure) {
            super(failure);
            this.row = row;
            this.failure = failure;
        }

        public int row() {
            return row;
        }

        public RuntimeException failure() {
            return failure;
        }
    }
}
