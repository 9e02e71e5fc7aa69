package dev.millrace.plan.node;

import java.util.List;
import java.util.OptionalInt;
import java.util.function.IntUnaryOperator;

/** What time has to do with a join: which rows meet, and how long they are kept. Columns are of the left and right input. */
public sealed interface JoinTime {
    /** The left input's columns that it reads. */
    List<Integer> leftColumns();

    /** The right input's columns that it reads. */
    List<Integer> rightColumns();

    /** Whether rows of a side (0 left, 1 right) have event time that the join waits for; both, mostly. */
    default boolean hasTime(int side) {
        return true;
    }

    /** The same over inputs whose columns were moved. */
    JoinTime renumbered(IntUnaryOperator left, IntUnaryOperator right);

    private static OptionalInt moved(OptionalInt column, IntUnaryOperator by) {
        return column.isPresent() ? OptionalInt.of(by.applyAsInt(column.getAsInt())) : column;
    }

    /**
     * The columns by which joined rows carry the end of their window: a window's rows are dropped when the watermark
     * reaches it, and those without a partner are emitted then, so that nothing is ever retracted.
     */
    record WindowEnds(int left, int right) implements JoinTime {
        @Override
        public List<Integer> leftColumns() {
            return List.of(left);
        }

        @Override
        public List<Integer> rightColumns() {
            return List.of(right);
        }

        @Override
        public JoinTime renumbered(IntUnaryOperator ofLeft, IntUnaryOperator ofRight) {
            return new WindowEnds(ofLeft.applyAsInt(left), ofRight.applyAsInt(right));
        }
    }

    /**
     * Rows meet if the right one's time {@code right} is at most {@code upperMicros} behind the left one's
     * {@code leftUntil}, and the left one's time {@code left} at most {@code -lowerMicros} behind the right one's
     * {@code rightUntil}. Mostly these are the times themselves: then right minus left is {@code lowerMicros} to
     * {@code upperMicros}. But each may be any other timestamp of its side, such as the end of an auction; with NULL there a
     * row meets none.
     *
     * <p>Rows are dropped, and emitted if they had no partner and the kind of join wants them, when the watermark says that
     * none can come.
     */
    record Bounds(int left, int right, int leftUntil, int rightUntil, long lowerMicros, long upperMicros)
            implements JoinTime {
        /** Bounds of the times' difference alone. */
        public Bounds(int left, int right, long lowerMicros, long upperMicros) {
            this(left, right, left, right, lowerMicros, upperMicros);
        }

        @Override
        public List<Integer> leftColumns() {
            return List.of(left, leftUntil);
        }

        @Override
        public List<Integer> rightColumns() {
            return List.of(right, rightUntil);
        }

        @Override
        public JoinTime renumbered(IntUnaryOperator ofLeft, IntUnaryOperator ofRight) {
            return new Bounds(
                    ofLeft.applyAsInt(left),
                    ofRight.applyAsInt(right),
                    ofLeft.applyAsInt(leftUntil),
                    ofRight.applyAsInt(rightUntil),
                    lowerMicros,
                    upperMicros);
        }

        /** Whether a left row is kept for so long after its time, and not until another. */
        public boolean leftByTime() {
            return left == leftUntil;
        }

        /** Whether a right row is kept for so long after its time, and not until another. */
        public boolean rightByTime() {
            return right == rightUntil;
        }

        /**
         * How far behind the watermark the times of joined rows may be; of a side that is not kept by its time they may be
         * anything.
         */
        public long heldMicros() {
            return Math.max(0, Math.max(leftByTime() ? upperMicros : 0, rightByTime() ? -lowerMicros : 0));
        }
    }

    /**
     * Rows are kept for {@code ttlMicros} by the time column of their side, then forgotten: what they were joined into stays.
     * With a column on both sides rows meet whose times differ by no more. A side without one, a table beside a stream, keeps
     * its rows for as long as they are there; a side with one is append-only.
     */
    record Kept(OptionalInt left, OptionalInt right, long ttlMicros) implements JoinTime {
        @Override
        public boolean hasTime(int side) {
            return (side == 0 ? left : right).isPresent();
        }

        @Override
        public List<Integer> leftColumns() {
            return left.stream().boxed().toList();
        }

        @Override
        public List<Integer> rightColumns() {
            return right.stream().boxed().toList();
        }

        @Override
        public JoinTime renumbered(IntUnaryOperator ofLeft, IntUnaryOperator ofRight) {
            return new Kept(moved(left, ofLeft), moved(right, ofRight), ttlMicros);
        }
    }

    /**
     * ASOF: a left row meets, of the right rows with its keys, the one nearest in time, of several at one time the one that
     * is greatest as bytes. INNER or LEFT.
     *
     * @param later whether right rows are at or after the left row; else at or before it
     * @param orEqual whether at its very time, too
     * @param settled whether each left row is joined once, when the watermark says that no nearer row can come, which is
     *     then never retracted; both inputs are append-only
     * @param version of right rows that are {@link PlanNode.Versions}, of a settled join: the column of a change's number.
     *     Of several at one time the one of the greatest number counts, and a negative one says that there is no row
     */
    record Nearest(int left, int right, boolean later, boolean orEqual, boolean settled, OptionalInt version)
            implements JoinTime {
        public Nearest {
            if (version.isPresent() && (!settled || later)) {
                throw new IllegalArgumentException("versions are of the past, and settled");
            }
        }

        /** A join of rows that are no versions. */
        public Nearest(int left, int right, boolean later, boolean orEqual, boolean settled) {
            this(left, right, later, orEqual, settled, OptionalInt.empty());
        }

        @Override
        public List<Integer> leftColumns() {
            return List.of(left);
        }

        @Override
        public List<Integer> rightColumns() {
            return version.isPresent() ? List.of(right, version.getAsInt()) : List.of(right);
        }

        @Override
        public JoinTime renumbered(IntUnaryOperator ofLeft, IntUnaryOperator ofRight) {
            return new Nearest(
                    ofLeft.applyAsInt(left),
                    ofRight.applyAsInt(right),
                    later,
                    orEqual,
                    settled,
                    moved(version, ofRight));
        }
    }

    /**
     * Each left row meets the right rows there are at the end of its epoch, once; what becomes of them later changes
     * nothing. INNER or LEFT, the left input is append-only.
     */
    record Current() implements JoinTime {
        /** The right side is a table. */
        @Override
        public boolean hasTime(int side) {
            return side == 0;
        }

        @Override
        public List<Integer> leftColumns() {
            return List.of();
        }

        @Override
        public List<Integer> rightColumns() {
            return List.of();
        }

        @Override
        public JoinTime renumbered(IntUnaryOperator ofLeft, IntUnaryOperator ofRight) {
            return this;
        }
    }
}
