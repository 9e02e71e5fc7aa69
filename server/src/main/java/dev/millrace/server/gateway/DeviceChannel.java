package dev.millrace.server.gateway;

import dev.millrace.edge.wire.Message;

/**
 * What carries a connection of a device. All that comes is told to its {@link EdgeConnection} on one thread, the channel's; its methods are called there, but
 * for those that are said to be of any.
 */
interface DeviceChannel {
    /** Does something on the channel's thread. Any thread. */
    void execute(Runnable work);

    /** Whether more is to be read; some may come all the same. */
    void read(boolean wanted);

    /** Whether the device takes what is sent to it. */
    boolean isWritable();

    boolean isOpen();

    /** Frames may be long from now on, as it is known who sends them. */
    void admit();

    /** Whether a device of this name may be at its other end. */
    boolean mayBe(String device);

    /** Where the device is, for users. */
    String address();

    /** Sends. Any thread. */
    void send(Message message);

    /** Sends, and ends. */
    void sendLast(Message message);

    /** Ends it; the connection is told. Any thread. */
    void close();
}
