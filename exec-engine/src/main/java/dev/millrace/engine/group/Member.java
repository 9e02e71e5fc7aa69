package dev.millrace.engine.group;

import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One of a group's queries: its literals, what it gave, which of its rows failed, and who listens. Safe on any thread, but for what says that it is the
 * operator's, and {@link #listen}.
 */
public final class Member {
    private final String name;
    private final long number;
    private final byte[] literals; // packed
    private final List<DataType> types; // of those, the same for all members
    private final Optional<String> goesOnWith;
    private final boolean isView;
    private volatile long rowsBefore = Long.MAX_VALUE; // written by the operator when it begins, read by statistics
    private long rowsOut; // written by the operator; a statistic may see it some rows old
    private volatile Optional<FailedRows> failedRows = Optional.empty(); // set once, under the lock
    private Optional<Failing> failing = Optional.empty(); // the operator's
    private Optional<MemberOperators> operators = Optional.empty(); // likewise
    private volatile Optional<MillraceException> failure = Optional.empty(); // written once, by the operator
    private volatile Optional<Audience> audience = Optional.empty(); // written while nothing is published
    private volatile Optional<MemberView> view = Optional.empty(); // written by who makes views, one at a time

    /**
     * @param literals packed
     * @param types of those
     */
    Member(
            String name,
            long number,
            byte[] literals,
            List<DataType> types,
            Optional<String> goesOnWith,
            boolean isView) {
        this.name = name;
        this.number = number;
        this.goesOnWith = goesOnWith;
        this.isView = isView;
        this.literals = literals;
        this.types = types;
    }

    public String name() {
        return name;
    }

    /** By which rows name it; no other member had it or will have it. */
    public long number() {
        return number;
    }

    /** As objects, made anew. */
    public List<Literal> literals() {
        return PackedLiterals.unpack(literals, types);
    }

    List<Expression> row() {
        List<Expression> row = new ArrayList<>();
        row.add(new Literal(number, DataType.BIGINT));
        row.addAll(literals());
        return row;
    }

    /** The name of which it has what a checkpoint has, if there is anything: its own, or the one that it had then. */
    public Optional<String> goesOnWith() {
        return goesOnWith;
    }

    /** What goes through its rows, if it has any by now. The operator's. */
    Optional<MemberOperators> operators() {
        return operators;
    }

    /** The same from now on. The operator's. */
    void operators(Optional<MemberOperators> now) {
        operators = now;
    }

    /** The rows that come now are its first. The operator's. */
    void begins(long rowsSoFar) {
        rowsBefore = rowsSoFar;
    }

    /** Rows of the input before its first; as many as there can be while it has not begun. */
    long rowsBefore() {
        return rowsBefore;
    }

    /** Of so many rows of the input, how many came while it was there. */
    public long rowsIn(long rowsSoFar) {
        return Math.max(0, rowsSoFar - rowsBefore);
    }

    /** It gives rows. The operator's. */
    void gives(int rows) {
        rowsOut += rows;
    }

    public long rowsOut() {
        return rowsOut;
    }

    /** A row failed, or the failure of one is taken back. The operator's. @throws MillraceException if too many did */
    void failed(MillraceException why, long weight, boolean mayBeTakenBack) {
        failing = failing.or(() -> Optional.of(new Failing(failures())));
        failing.get().failed(why, weight, mayBeTakenBack);
    }

    /** Whether rows failed in the epoch under way, or failures were taken back. The operator's. */
    boolean hasFailingRows() {
        return failing.filter(Failing::isUnderWay).isPresent();
    }

    /** The epoch in which rows failed is at its end. The operator's. */
    void epochEnd(long epoch) {
        failing.ifPresent(rows -> rows.epochEnd(epoch));
    }

    /** Its rows that failed, if any did. */
    public Optional<FailedRows> failedRows() {
        return failedRows;
    }

    /** The same, from now on also for who asks before one fails. */
    public synchronized FailedRows failures() {
        if (failedRows.isEmpty()) {
            failedRows = Optional.of(new FailedRows(true, !isView));
        }
        return failedRows.get();
    }

    /** It cannot go on, whatever becomes of rows that failed. The operator's, or before it has rows. */
    public void fails(MillraceException why) {
        failure = Optional.of(why);
    }

    /** Why not. */
    public Optional<MillraceException> failure() {
        return failure;
    }

    /** Who listens from now on. While nothing is published. */
    void listen(Optional<Audience> who) {
        audience = who;
    }

    public Optional<Audience> audience() {
        return audience;
    }

    /** Its answer is this from now on. */
    void view(Optional<MemberView> now) {
        view = now;
    }

    Optional<MemberView> view() {
        return view;
    }

    /** The rows of its answer, if it has had any, or was read. */
    public Optional<VersionedView> rows() {
        return view.map(MemberView::rows);
    }

    /** Rows that fail, of a member of which some did. The operator's. */
    private static final class Failing {
        private final FailedRows all;
        private Optional<FailedRows.Part> gone = Optional.empty(); // for good
        private Optional<FailedRows.Part> returning = Optional.empty(); // of what may be taken back
        private boolean isUnderWay; // in the epoch at hand

        Failing(FailedRows all) {
            this.all = all;
        }

        void failed(MillraceException why, long weight, boolean mayBeTakenBack) {
            isUnderWay = true;
            if (mayBeTakenBack) {
                returning = returning.or(() -> Optional.of(all.newPart()));
            } else {
                gone = gone.or(() -> Optional.of(all.newPart(true)));
            }
            (mayBeTakenBack ? returning : gone).orElseThrow().failed(why, weight);
        }

        boolean isUnderWay() {
            return isUnderWay;
        }

        void epochEnd(long epoch) {
            isUnderWay = false;
            gone.ifPresent(part -> part.epochEnd(epoch));
            returning.ifPresent(part -> part.epochEnd(epoch));
        }
    }
}
