package dev.millrace.connectors.mqtt;

import java.util.Optional;
import java.util.Set;

/**
 * Messages of QoS 2 that a client has to answer with PUBREC: they are kept when {@link #put} returns, on disk where there is one. Safe on any
 * thread.
 *
 * <p>Paho's client for 3.1.1 tells of a message when the broker has released it, and keeps it until then ({@link #put(int, String, byte[])}, {@link #get}, {@link
 * #ids}). Its client for 5 answers PUBREL by itself, so that a message is ours when it was put ({@link #put(ArrivedMessage, boolean)}).
 */
interface ReceivedMessages {
    /**
     * Keeps one until it is released, in the place of another of this id.
     *
     * @param message as bytes of the client's own
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing
     */
    void put(int id, String topic, byte[] message);

    /** What is kept of one that is not released. */
    Optional<byte[]> get(int id);

    /** Of those that are not released. */
    Set<Integer> ids();

    /**
     * Keeps one, and has the streams take it, unless it is known.
     *
     * @param isRepeated whether the broker says that it sent it before
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing
     */
    void put(ArrivedMessage message, boolean isRepeated);
}
