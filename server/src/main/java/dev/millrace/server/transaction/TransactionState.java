package dev.millrace.server.transaction;

/** How a session stands to transactions, as its client is told. */
public enum TransactionState {
    /** Each statement takes effect by itself. */
    IDLE,
    /** Between BEGIN and COMMIT. */
    ACTIVE,
    /** A statement failed: only ROLLBACK helps. */
    FAILED
}
