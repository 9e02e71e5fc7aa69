package dev.millrace.server.device;

/** A stream on a connection of a device. Told by the stream's thread; none of the calls waits, and none fails when the connection is gone. */
public interface DeviceSession {
    String device();

    /** Of the device's queue: its numbers mean nothing beyond it. */
    long identity();

    /** From now on what the connection brings counts, and what others of the device bring does not. */
    void opened(long acknowledged);

    /** Nothing of the stream is taken for now. */
    void waitsFor(String what);

    /** All up to a number is on disk. */
    void acknowledged(long upTo);

    /** Segments refer to versions that are not known here: all that is not acknowledged is to be sent again, with them. */
    void needVersions();

    void set(long number, String text);

    /** There is room again for what the connection brings. */
    void room();
}
