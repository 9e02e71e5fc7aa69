package dev.millrace.engine.over;

import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.Frame.Bound;
import dev.millrace.plan.expression.Frame.Exclusion;
import dev.millrace.plan.expression.Frame.Kind;
import dev.millrace.plan.expression.Frame.Unit;

/**
 * Where the frames of consecutive rows begin and end. Both only grow from row to row. An empty frame begins where it ends.
 */
final class FrameCursor {
    private final Frame frame;
    private final OrderedRows rows;
    private int start;
    private int end;
    private int firstPeer;
    private int endOfPeers;
    private int row;
    private boolean begun;

    FrameCursor(Frame frame, OrderedRows rows) {
        this.frame = frame;
        this.rows = rows;
    }

    /** Forgets where it is: the next row is any of the partition shown. */
    void reset() {
        begun = false;
        start = 0;
        end = 0;
        firstPeer = 0;
        endOfPeers = 0;
    }

    /** Moves to a row behind the last one. */
    void move(int index) {
        row = index;
        if (!begun) {
            firstPeer = rows.firstPeer(index);
            endOfPeers = rows.endOfPeers(index);
        } else if (index >= endOfPeers) {
            firstPeer = index == endOfPeers ? index : rows.firstPeer(index);
            endOfPeers = rows.endOfPeers(index);
        }
        start = Math.max(start, start(index));
        end = Math.max(Math.max(end, end(index)), start);
        begun = true;
    }

    int start() {
        return start;
    }

    int end() {
        return end;
    }

    int firstPeer() {
        return firstPeer;
    }

    int endOfPeers() {
        return endOfPeers;
    }

    private int clamp(long index) {
        return (int) Math.max(0, Math.min(rows.count(), index));
    }

    private int start(int index) {
        Bound bound = frame.start();
        return switch (frame.unit()) {
            case ROWS ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case PRECEDING -> clamp(index - bound.offset());
                    case CURRENT_ROW -> index;
                    case FOLLOWING -> clamp(plus(index, bound.offset()));
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
            case RANGE ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case CURRENT_ROW -> firstPeer;
                    case PRECEDING, FOLLOWING -> firstNotBelow(index, (int) bound.offset(), 0);
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
            case GROUPS ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case CURRENT_ROW -> firstPeer;
                    case PRECEDING -> groupsBack(bound.offset());
                    case FOLLOWING -> groupsOn(bound.offset());
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
        };
    }

    private int end(int index) {
        Bound bound = frame.end();
        return switch (frame.unit()) {
            case ROWS ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case PRECEDING -> clamp(index - bound.offset() + 1);
                    case CURRENT_ROW -> index + 1;
                    case FOLLOWING -> clamp(plus(index, bound.offset()) + 1);
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
            case RANGE ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case CURRENT_ROW -> endOfPeers;
                    case PRECEDING, FOLLOWING -> firstNotBelow(index, (int) bound.offset(), 1);
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
            case GROUPS ->
                switch (bound.kind()) {
                    case UNBOUNDED_PRECEDING -> 0;
                    case CURRENT_ROW -> endOfPeers;
                    case PRECEDING -> bound.offset() == 0 ? endOfPeers : endAfterGroupsBack(bound.offset());
                    case FOLLOWING -> groupsOn(plus(1, bound.offset()));
                    case UNBOUNDED_FOLLOWING -> rows.count();
                };
        };
    }

    private static long plus(long index, long offset) {
        return offset > Long.MAX_VALUE - 2 - index ? Long.MAX_VALUE - 2 : index + offset;
    }

    /** The first row whose key is at least ({@code least} 0) or above (1) the bound of a row. */
    private int firstNotBelow(int index, int column, int least) {
        long bounded = rows.at(index);
        int at = least == 0 ? start : end;
        if (begun) { // the bounds of consecutive rows are near each other
            while (at < rows.count() && rows.compareKey(rows.at(at), bounded, column) < least) {
                at++;
            }
            return at;
        }
        int low = at;
        int high = rows.count();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (rows.compareKey(rows.at(middle), bounded, column) < least) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The beginning of the group so many groups before the current one. */
    private int groupsBack(long groups) {
        int at = firstPeer;
        for (long left = groups; left > 0 && at > 0; left--) {
            at = rows.firstPeer(at - 1);
        }
        return at;
    }

    private int endAfterGroupsBack(long groups) {
        int at = firstPeer;
        for (long left = groups - 1; left > 0 && at > 0; left--) {
            at = rows.firstPeer(at - 1);
        }
        return at;
    }

    /** The beginning of the group so many groups behind the current one. */
    private int groupsOn(long groups) {
        int at = firstPeer;
        for (long left = groups; left > 0 && at < rows.count(); left--) {
            at = rows.endOfPeers(at);
        }
        return at;
    }

    boolean excludes() {
        return frame.exclusion() != Exclusion.NO_OTHERS;
    }

    /** Whether a row of the frame is excluded again. */
    boolean isExcluded(int index) {
        return switch (frame.exclusion()) {
            case NO_OTHERS -> false;
            case CURRENT_ROW -> index == row;
            case GROUP -> index >= firstPeer && index < endOfPeers;
            case TIES -> index != row && index >= firstPeer && index < endOfPeers;
        };
    }

    /** Whether frames begin with their partition. */
    boolean isRunning() {
        return frame.start().kind() == Kind.UNBOUNDED_PRECEDING;
    }

    /** The unit of the frame. */
    Unit unit() {
        return frame.unit();
    }
}
