package dev.millrace.sql.statement;

/**
 * Where FETCH and MOVE go in a cursor, as PostgreSQL's: a cursor is before the first row, on a row, or after the last.
 *
 * @param rows of FORWARD and BACKWARD how many are passed, not negative, {@link Long#MAX_VALUE} for ALL; of ABSOLUTE the number of the row,
 *     from 1, or from the end if negative; of RELATIVE how many rows further, or back if negative
 */
public record Movement(Direction direction, long rows) {
    /** What the number of rows says. */
    public enum Direction {
        FORWARD,
        BACKWARD,
        ABSOLUTE,
        RELATIVE
    }

    public static Movement forward(long rows) {
        return new Movement(Direction.FORWARD, rows);
    }

    /** So many rows further, or back if negative. */
    public static Movement by(Direction direction, long rows) {
        boolean turns = rows < 0 && (direction == Direction.FORWARD || direction == Direction.BACKWARD);
        if (!turns) {
            return new Movement(direction, rows);
        }
        Direction other = direction == Direction.FORWARD ? Direction.BACKWARD : Direction.FORWARD;
        return new Movement(other, rows == Long.MIN_VALUE ? Long.MAX_VALUE : -rows);
    }

    /** Whether no row is read twice, wherever the cursor is. */
    public boolean isForward() {
        return direction == Direction.FORWARD && rows > 0;
    }
}
