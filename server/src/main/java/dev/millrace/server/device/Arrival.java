package dev.millrace.server.device;

import dev.millrace.edge.wire.Message;

/** What a connection of a device brought. */
record Arrival(DeviceSession session, Message message) {
    private static final int OVERHEAD_BYTES = 128;

    long bytes() {
        return OVERHEAD_BYTES
                + (message instanceof Message.Rows rows
                        ? rows.bytes().length
                        : message instanceof Message.Version version ? version.bytes().length : 0);
    }
}
