package dev.millrace.server.transaction;

/** Rows that a statement is about to change are another transaction's. Thrown before anything is changed. */
public final class RowsHeld extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Transaction holder;

    RowsHeld(Transaction holder) {
        super("rows are held by another transaction", null, false, false);
        this.holder = holder;
    }

    public Transaction holder() {
        return holder;
    }
}
