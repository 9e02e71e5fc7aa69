package dev.millrace.engine.code;

import dev.millrace.batch.Batch;
import dev.millrace.engine.function.Text;
import dev.millrace.engine.function.TextArena;
import dev.millrace.engine.state.NestedImages;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * What generated filters and projections extend. One thread at a time; per batch:
 *
 * <pre>
 *   begin   select   project
 * </pre>
 */
public abstract class CalcKernel implements AutoCloseable {
    /** Kernel's time, for {@code proctime()}: one per batch. */
    protected long nowMicros;

    /** Keeps texts that several loops use, until the next batch. */
    protected final TextArena arena;

    /** The arrays and rows of the batch as bytes. */
    protected final NestedImages images;

    private final Literals literals;

    /** @param literals in the order the source numbers them; taken over */
    protected CalcKernel(Literals literals) {
        this.literals = literals;
        this.arena = literals.own(new TextArena(literals.allocator()));
        this.images = literals.own(new NestedImages(literals.allocator()));
    }

    /** Called before the loops of a batch. */
    public void begin(int rows, long newNowMicros) {
        nowMicros = newNowMicros;
        arena.clear();
        images.clear();
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

    /** A result for one call of a text function. */
    protected final Text text() {
        return literals.own(new Text(literals.allocator()));
    }

    /** Closes a thing with the kernel. */
    protected final AutoCloseable own(AutoCloseable resource) {
        return literals.own(resource);
    }

    /** What a failure in a row is to the user; never returns. */
    protected static RuntimeException failed(RuntimeException failure, int row) {
        throw new RowFailure(row, explained(failure));
    }

    /** Returns where a failure says that a value cannot be another type's; fails with all else, such as want of memory. */
    protected static void passOnUnlessOfValue(RuntimeException failure) {
        boolean ofValue = explained(failure) instanceof MillraceException known
                && known.fault() == MillraceException.Fault.USER
                && known.sqlState() != SqlState.FEATURE_NOT_SUPPORTED;
        if (!ofValue) {
            throw failure;
        }
    }

    private static RuntimeException explained(RuntimeException failure) {
        if (!(failure instanceof ArithmeticException)) {
            return failure;
        }
        // Math.addExact and its kin, and the machine's division: the only throwers of this exception in kernels. Where
        // a
        // division fails often, HotSpot throws an exception without a message (OmitStackTraceInFastThrow).
        String message = failure.getMessage();
        if (message == null || message.contains("zero")) {
            return MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
        }
        String type = message.startsWith("long") ? "bigint" : "integer";
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, type + " out of range");
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
