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
    private volatile long rowsBefore = Long.MAX_VALUE; // written by the operator when it begins, read by statistics
    private long rowsOut; // written by the operator; a statistic may see it some rows old
    private volatile Optional<FailedRows> failedRows = Optional.empty(); // set once, by the operator
    private Optional<FailedRows.Part> failing = Optional.empty(); // the operator's
    private volatile Optional<MillraceException> failure = Optional.empty(); // written once, by the operator
    private volatile Optional<Audience> audience = Optional.empty(); // written while nothing is published

    Member(String name, long number, List<Literal> literals) {
        this.name = name;
        this.number = number;
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

    /** It gives a row. The operator's. */
    void gives() {
        rowsOut++;
    }

    public long rowsOut() {
        return rowsOut;
    }

    /** A row failed. The operator's. @throws MillraceException if too many did */
    void failed(MillraceException why, long weight) {
        if (failedRows.isEmpty()) {
            failedRows = Optional.of(new FailedRows(true, true));
        }
        if (failing.isEmpty()) {
            failing = Optional.of(failedRows.get().newPart(true));
        }
        failing.get().failed(why, weight);
    }

    /** The epoch in which rows failed is at its end. The operator's. */
    void epochEnd(long epoch) {
        failing.ifPresent(part -> part.epochEnd(epoch));
        failing = Optional.empty();
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
