package dev.millrace.edge.link;

import dev.millrace.edge.wire.Message;
import java.util.Optional;

/** A connection to the server, which keeps the order of messages. None of the calls waits. */
public interface DeviceWire extends AutoCloseable {
    /** How a connection is begun. */
    @FunctionalInterface
    interface Dialer {
        /** Begins a connection; what comes of it the wire says later. */
        DeviceWire dial();
    }

    /** Sends, now or later. What is sent before somebody hears of it the caller bounds. */
    void send(Message message);

    /** What has come. */
    Optional<Message> receive();

    /** Why it has ended, when all that came has been received. */
    Optional<String> failure();

    /** Bytes that were sent, and that came. */
    long bytes();

    @Override
    void close();
}
