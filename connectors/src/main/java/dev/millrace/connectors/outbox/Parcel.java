package dev.millrace.connectors.outbox;

/** Records that wait to be delivered: all of them, or none. Safe on any thread. */
public interface Parcel {
    /** Greater than that of any before it; what the outside keeps beside the records. */
    long number();

    /** Its records; asked for each time that it is tried. */
    Delivery.Records records();

    /** The outside has it. Once, by the thread that delivers; takes no longer than to remove a file. */
    void delivered();
}
