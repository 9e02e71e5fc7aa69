package dev.millrace.edge.wire;

import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.queue.Shedding;

/** A message of the protocol that the package's description has. */
public sealed interface Message {
    /** The version of the protocol that is spoken here. */
    int VERSION = 1;

    /**
     * The first of a device.
     *
     * @param agent which program it is, for users
     * @param user the role that it logs in as
     * @param token its password
     * @param identity of its queue
     */
    record Hello(int version, String agent, String user, String token, String device, long identity, long micros)
            implements Message {
        @Override
        public String toString() {
            return "Hello[" + device + "]"; // and no token
        }
    }

    record Welcome(long micros) implements Message {}

    /**
     * The last of a server.
     *
     * @param again whether it may be otherwise if it is tried again
     */
    record Refused(String sqlState, String text, boolean again) implements Message {}

    /**
     * @param settings the number of those that it has from the server; 0 for none
     * @param programs up to which version it knows what queries may have it do ({@code edge.program})
     */
    record Open(int stream, String name, long settings, int programs) implements Message {
        /** Of a device that makes windows of its rows. */
        public static final int WINDOWS = 2;
    }

    /** @param waitsFor why nothing of the stream is taken for now; empty if it is */
    record Opened(int stream, long acknowledged, String waitsFor) implements Message {}

    record Version(int stream, byte[] bytes) implements Message {}

    /** @param bytes of the segment; none of what was shed or lost */
    record Rows(
            int stream, long from, long to, RecordKind kind, long rows, long firstMicros, long lastMicros, byte[] bytes)
            implements Message {}

    record Acknowledged(int stream, long upTo) implements Message {}

    record NeedVersions(int stream) implements Message {}

    /** @param text as {@code edge.stream.SettingsText} has it */
    record Set(int stream, long number, String text) implements Message {}

    /** @param error why they were refused; empty if they count from the next segment on */
    record SetDone(int stream, long number, String error) implements Message {}

    /** @param offsetMicros by how much the server's clock is ahead, as of the ping before; 0 at first */
    record Ping(long micros, long roundTripMicros, long offsetMicros) implements Message {}

    record Pong(long pingMicros, long micros) implements Message {}

    /**
     * How a stream is with the device.
     *
     * @param rows taken, ever
     * @param rejected that were no rows, ever
     * @param openRows in segments that are not closed
     * @param backlogRows in segments that are not acknowledged
     * @param problem of its input; empty for none
     * @param unneeded rows that stayed there, as no query needs them, ever
     */
    record Status(
            int stream,
            long rows,
            long rejected,
            long openRows,
            long backlogRows,
            long backlogRecords,
            long backlogBytes,
            Shedding shedding,
            String problem,
            long unneeded)
            implements Message {}
}
