package dev.millrace.engine.join;

import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.RowTable;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;

/**
 * The whole answer of a join, made from its state for those who were not there when it was emitted. It is told before the
 * first row after that is joined, so the state must not change while it is.
 */
public final class JoinAnswer {
    private final JoinKind kind;
    private final JoinState state;
    private final Pairs pairs;
    private final JoinSides sides;
    private final JoinOutput joined;
    private final EntryCursor entries;
    private int count;
    private int next;

    /** @param pairs and what is joined of them go out through {@code joined}; both are empty */
    JoinAnswer(JoinKind kind, JoinState state, JoinSides sides, Pairs pairs, JoinOutput joined) {
        this.kind = kind;
        this.state = state;
        this.pairs = pairs;
        this.joined = joined;
        this.sides = sides;
        this.entries = new EntryCursor(state.table(), 256);
    }

    /** Whether a join's state has its whole answer: rows that were forgotten or never kept would be missing. */
    public static boolean isKept(Join node) {
        boolean allKept = node.time().isEmpty() && node.windowEnds().isEmpty();
        return allKept
                && switch (node.kind()) {
                    case INNER, SEMI -> true;
                    case LEFT, ANTI -> hasKeys(node, 0);
                    case RIGHT -> hasKeys(node, 1);
                    case FULL -> hasKeys(node, 0) && hasKeys(node, 1);
                };
    }

    /** Rows with a NULL key equal nothing: they are passed on without being kept. */
    private static boolean hasKeys(Join node, int side) {
        var schema = (side == 0 ? node.left() : node.right()).schema();
        return (side == 0 ? node.leftKeys() : node.rightKeys())
                .stream().noneMatch(key -> schema.field(key).nullable());
    }

    /**
     * Goes on emitting; returns whether all is told.
     *
     * @param atOnce whether it goes on where the output is full
     */
    boolean tell(Output output, boolean atOnce) {
        Interrupt interrupt = Interrupt.current();
        while (atOnce || !output.isFull()) {
            interrupt.check();
            if (next == count) {
                next = 0;
                count = entries.advance();
                if (count == 0) {
                    return true;
                }
            }
            tell(entries.entries()[next++], output);
        }
        return false;
    }

    private void tell(long entry, Output output) {
        boolean leftAlone = kind == JoinKind.LEFT || kind == JoinKind.FULL || kind == JoinKind.ANTI;
        for (long left = RowTable.first(state.list(entry, 0)); left != 0; left = RowTable.next(left)) {
            boolean hasPartner = RowTable.note(left) != 0;
            if (hasPartner ? kind == JoinKind.SEMI : leftAlone) {
                joined.add(left, sides.nullRow(1), RowTable.weight(left), output);
            }
            if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
                for (long right = RowTable.first(state.list(entry, 1)); right != 0; right = RowTable.next(right)) {
                    if (pairs.add(0, left, right)) {
                        meet(output);
                    }
                }
            }
        }
        meet(output);
        if (kind == JoinKind.RIGHT || kind == JoinKind.FULL) {
            for (long right = RowTable.first(state.list(entry, 1)); right != 0; right = RowTable.next(right)) {
                if (RowTable.note(right) == 0) {
                    joined.add(sides.nullRow(0), right, RowTable.weight(right), output);
                }
            }
        }
        joined.flush(output);
    }

    private long weight(int pair) {
        return Math.multiplyExact(RowTable.weight(pairs.our(pair)), RowTable.weight(pairs.their(pair)));
    }

    private void meet(Output output) {
        int passed = pairs.select(0, sides.columns(0), sides.columns(1), this::weight);
        for (int i = 0; i < passed; i++) {
            joined.add(pairs.our(i), pairs.their(i), weight(i), output);
        }
        joined.flush(output);
        pairs.clear();
    }
}
