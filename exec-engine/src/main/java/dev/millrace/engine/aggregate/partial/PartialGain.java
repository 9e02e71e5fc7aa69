package dev.millrace.engine.aggregate.partial;

/**
 * Whether a first phase is worth its while, by what it made of the last rows: if it emits more than half as many as it is
 * given, it costs more than it saves, and rows are passed on as they come for a while.
 *
 * <pre>
 *   collecting -- {@code measuredRows} in, more than half as many out --> passing -- {@code passedRows} in --> collecting
 * </pre>
 */
public final class PartialGain {
    private static final long MEASURED_ROWS = 1 << 18;
    private static final long PASSED_ROWS = 32 * MEASURED_ROWS;

    private final long measuredRows;
    private final long passedRows;
    private long rowsIn;
    private long rowsOut;
    private boolean isPassing;

    public PartialGain() {
        this(MEASURED_ROWS, PASSED_ROWS);
    }

    public PartialGain(long measuredRows, long passedRows) {
        this.measuredRows = measuredRows;
        this.passedRows = passedRows;
    }

    /** Whether rows are to be passed on as they come. */
    public boolean isPassing() {
        return isPassing;
    }

    /** Notes rows that came. */
    public void in(int rows) {
        rowsIn += rows;
        if (isPassing && rowsIn >= passedRows) {
            isPassing = false;
            rowsIn = 0;
        }
    }

    /** Notes rows that were made of groups. */
    public void out(int rows) {
        rowsOut += rows;
    }

    /** All groups were emitted. */
    public void emptied() {
        if (!isPassing && rowsIn >= measuredRows) {
            isPassing = 2 * rowsOut > rowsIn;
            rowsIn = 0;
            rowsOut = 0;
        }
    }
}
