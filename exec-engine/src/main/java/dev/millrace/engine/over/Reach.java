package dev.millrace.engine.over;

import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.Frame.Bound;
import dev.millrace.plan.expression.Frame.Kind;
import dev.millrace.plan.expression.OverCall;
import java.util.Arrays;
import java.util.List;

/**
 * Which rows' results depend on rows that came or went, as ranges of the partition as it is now. Never too few; a few more
 * than needed cost only their computation.
 */
final class Reach {
    private final OrderedRows rows;
    private final OverCall[] calls;
    private int[] froms = new int[16];
    private int[] tos = new int[16];
    private int ranges;
    private int low;
    private int high;

    Reach(OrderedRows rows, List<OverCall> calls) {
        this.rows = rows;
        this.calls = calls.toArray(OverCall[]::new);
    }

    void clear() {
        ranges = 0;
    }

    int ranges() {
        return ranges;
    }

    int from(int range) {
        return froms[range];
    }

    int to(int range) {
        return tos[range];
    }

    /**
     * Adds what a change touches; changes come in ascending order.
     *
     * @param index where the row is, or for one that went, where it would be
     * @param row the row that came or went
     * @param came whether it is at {@code index}
     */
    void add(int index, long row, boolean came) {
        if (ranges > 0 && froms[0] == 0 && tos[ranges - 1] == rows.count() && ranges == 1) {
            return; // all rows already
        }
        low = Integer.MAX_VALUE;
        high = Integer.MIN_VALUE;
        if (came) {
            extend(index, index + 1);
        }
        for (OverCall call : calls) {
            extend(call, index, row);
        }
        int from = Math.max(0, low);
        int to = Math.min(rows.count(), high);
        if (from >= to) {
            return;
        }
        while (ranges > 0 && from <= tos[ranges - 1]) { // this one reaches into those before
            ranges--;
            from = Math.min(from, froms[ranges]);
            to = Math.max(to, tos[ranges]);
        }
        if (ranges == froms.length) {
            froms = Arrays.copyOf(froms, 2 * ranges);
            tos = Arrays.copyOf(tos, 2 * ranges);
        }
        froms[ranges] = from;
        tos[ranges++] = to;
    }

    private void extend(long from, long to) {
        low = (int) Math.max(0, Math.min(low, from));
        high = (int) Math.min(rows.count(), Math.max(high, to));
    }

    private void extend(OverCall call, int index, long row) {
        switch (call.function()) {
            case ROW_NUMBER, RANK, DENSE_RANK, EMA -> extend(index, rows.count());
            case PERCENT_RANK, CUME_DIST, NTILE -> extend(0, rows.count());
            case LAG -> extendByDistance(call, index, call.parameter());
            case LEAD -> extendByDistance(call, index, -call.parameter());
            case FIRST_VALUE, LAST_VALUE, NTH_VALUE, AGGREGATE -> extendByFrame(call.frame(), index, row);
        }
    }

    /** @param back how many rows before the current one its value is */
    private void extendByDistance(OverCall call, int index, long back) {
        if (call.ignoreNulls()) {
            extend(back >= 0 ? index : 0, back >= 0 ? rows.count() : index + 1L);
        } else if (back >= 0) {
            extend(index, back >= rows.count() ? rows.count() : index + back + 1);
        } else {
            extend(-back >= rows.count() ? 0 : index + back, index + 1L);
        }
    }

    private void extendByFrame(Frame frame, int index, long row) {
        switch (frame.unit()) {
            // of a row that went, the rows behind it were one further on
            case ROWS -> extend(index - rowsAhead(frame.end()) - 1, index + rowsBack(frame.start()) + 1);
            case RANGE -> extend(firstSeeing(frame.end(), index, row), lastSeeing(frame.start(), index, row));
            case GROUPS -> extend(groupsBefore(frame.end(), index, row), groupsBehind(frame.start(), index, row));
        }
    }

    private long rowsBack(Bound start) {
        return switch (start.kind()) {
            case UNBOUNDED_PRECEDING -> rows.count();
            case PRECEDING -> Math.min(start.offset(), rows.count());
            case CURRENT_ROW -> 0;
            case FOLLOWING, UNBOUNDED_FOLLOWING -> -Math.min(start.offset(), rows.count());
        };
    }

    private long rowsAhead(Bound end) {
        return switch (end.kind()) {
            case UNBOUNDED_FOLLOWING -> rows.count();
            case FOLLOWING -> Math.min(end.offset(), rows.count());
            case CURRENT_ROW -> 0;
            case PRECEDING, UNBOUNDED_PRECEDING -> -Math.min(end.offset(), rows.count());
        };
    }

    /** The first row before {@code index} whose frame ends behind the changed row. */
    private int firstSeeing(Bound end, int index, long row) {
        if (end.kind() == Kind.UNBOUNDED_FOLLOWING) {
            return 0;
        }
        int at = index;
        while (at > 0) {
            long other = rows.at(at - 1);
            boolean sees = end.kind() == Kind.CURRENT_ROW
                    ? rows.tie(other, row)
                    : rows.compareKey(row, other, (int) end.offset()) <= 0;
            if (!sees) {
                break;
            }
            at--;
        }
        return at;
    }

    /** Behind the last row from {@code index} on whose frame begins before the changed row. */
    private int lastSeeing(Bound start, int index, long row) {
        if (start.kind() == Kind.UNBOUNDED_PRECEDING) {
            return rows.count();
        }
        int at = index;
        while (at < rows.count()) {
            long other = rows.at(at);
            boolean sees = start.kind() == Kind.CURRENT_ROW
                    ? rows.tie(other, row)
                    : rows.compareKey(row, other, (int) start.offset()) >= 0;
            if (!sees) {
                break;
            }
            at++;
        }
        return at;
    }

    /** One group more than the frame says: the change may have made or ended one. */
    private int groupsBefore(Bound end, int index, long row) {
        if (end.kind() == Kind.UNBOUNDED_FOLLOWING) {
            return 0;
        }
        int at = index;
        while (at > 0 && rows.tie(rows.at(at - 1), row)) {
            at = rows.firstPeer(at - 1);
        }
        long groups = end.kind() == Kind.FOLLOWING ? end.offset() + 1 : 1;
        for (long left = groups; left > 0 && at > 0; left--) {
            at = rows.firstPeer(at - 1);
        }
        return at;
    }

    private int groupsBehind(Bound start, int index, long row) {
        if (start.kind() == Kind.UNBOUNDED_PRECEDING) {
            return rows.count();
        }
        int at = index;
        if (at < rows.count() && rows.tie(rows.at(at), row)) {
            at = rows.endOfPeers(at);
        }
        long groups = start.kind() == Kind.PRECEDING ? start.offset() + 1 : 1;
        for (long left = groups; left > 0 && at < rows.count(); left--) {
            at = rows.endOfPeers(at);
        }
        return at;
    }
}
