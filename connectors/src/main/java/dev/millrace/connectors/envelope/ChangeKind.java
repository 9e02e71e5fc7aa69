package dev.millrace.connectors.envelope;

/** What a record of an envelope says. */
enum ChangeKind {
    /** A row is there, in the place of the one of its key if there was one. */
    PUT(""),
    /** The row of a key is gone. */
    DELETE(""),
    /** All rows are gone. */
    TRUNCATE(""),
    /** A key without a value, which tells brokers to forget the key: the row went before. */
    TOMBSTONE("tombstones"),
    /** Where a transaction of the other database begins or ends. */
    TRANSACTION("transaction metadata"),
    /** The other database is there, and nothing changed. */
    HEARTBEAT("heartbeats"),
    /** What somebody wrote to the other database's log beside its tables. */
    MESSAGE("messages of the log");

    private final String passedOver;

    ChangeKind(String passedOver) {
        this.passedOver = passedOver;
    }

    /** For users, what records are called that change no row; empty for those that do. */
    String passedOver() {
        return passedOver;
    }
}
