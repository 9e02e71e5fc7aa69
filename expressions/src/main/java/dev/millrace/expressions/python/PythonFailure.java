package dev.millrace.expressions.python;

/** What a function, or its process, did wrong. */
public final class PythonFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int row;

    PythonFailure(int row, String message) {
        super(message);
        this.row = row;
    }

    /** The row of the batch; -1 if it is not known. */
    public int row() {
        return row;
    }
}
