package dev.millrace.engine.group;

import dev.millrace.engine.task.FailedRows;
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
    private final List<Literal> literals;
    private final boolean goesOn;
    private volatile long rowsBefore = Long.MAX_VALUE; // written by the operator when it begins, read by statistics
    private long rowsOut; // written by the operator; a statistic may see it some rows old
    private volatile Optional<FailedRows> failedRows = Optional.empty(); // set once, by the operator
    private Optional<FailedRows.Part> failing = Optional.empty(); // the operator's
    private Optional<FailedRows.Part> returning = Optional.empty(); // likewise, of what may be taken back
    private boolean hasFailingRows; // likewise
    private Optional<MemberOperators> operators = Optional.empty(); // likewise
    private volatile Optional<MillraceException> failure = Optional.empty(); // written once, by the operator
    private volatile Optional<Audience> audience = Optional.empty(); // written while nothing is published

    Member(String name, long number, List<Literal> literals, boolean goesOn) {
        this.name = name;
        this.number = number;
        this.goesOn = goesOn;
        this.literals = List.copyOf(literals);
    }

    public String name() {
        return name;
    }

    /** By which rows name it; no other member had it or will have it. */
    public long number() {
        return number;
    }

    public List<Literal> literals() {
        return literals;
    }

    List<Expression> row() {
        List<Expression> row = new ArrayList<>();
        row.add(new Literal(number, DataType.BIGINT));
        row.addAll(literals);
        return row;
    }

    /** Whether it has the state that a checkpoint has of its name, if there is any. */
    boolean goesOn() {
        return goesOn;
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
        if (failedRows.isEmpty()) {
            failedRows = Optional.of(new FailedRows(true, true));
        }
        hasFailingRows = true;
        FailedRows all = failedRows.get();
        if (mayBeTakenBack) {
            returning = returning.or(() -> Optional.of(all.newPart()));
        } else {
            failing = failing.or(() -> Optional.of(all.newPart(true)));
        }
        (mayBeTakenBack ? returning : failing).orElseThrow().failed(why, weight);
    }

    /** Whether rows failed in the epoch under way, or failures were taken back. The operator's. */
    boolean hasFailingRows() {
        return hasFailingRows;
    }

    /** The epoch in which rows failed is at its end. The operator's. */
    void epochEnd(long epoch) {
        hasFailingRows = false;
        failing.ifPresent(part -> part.epochEnd(epoch));
        returning.ifPresent(part -> part.epochEnd(epoch));
    }

    /** Its rows that failed, if any did. */
    public Optional<FailedRows> failedRows() {
        return failedRows;
    }

    /** It cannot go on, whatever becomes of rows that failed. The operator's. */
    void fails(MillraceException why) {
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
}
