package dev.millrace.connectors.mqtt;

import java.util.List;

/**
 * A client of one broker, of whichever version of MQTT. Connects once: who loses the connection makes another. Safe on any thread.
 */
interface BrokerClient extends AutoCloseable {
    /** Is told what happens, on the client's threads, which must not be held up. */
    interface Listener {
        /** A message: at QoS 2 when the broker has released it, so that it comes once. */
        void arrived(ArrivedMessage message);

        /** The connection is gone. */
        void lost(String reason);
    }

    /** What becomes of a message that is sent; one of these is called, once, on the client's threads. */
    interface Sent {
        void taken();

        void failed(String reason);
    }

    /**
     * Connects, and waits for it some seconds at most.
     *
     * @return whether the broker knows a session of this client
     * @throws BrokerException if it cannot
     */
    boolean connect() throws BrokerException;

    /** Waits for the answer some seconds at most. */
    void subscribe(List<TopicFilter> filters, int qos) throws BrokerException;

    /** The same. */
    void unsubscribe(List<TopicFilter> filters) throws BrokerException;

    /** A message is kept; does not wait. */
    void acknowledge(int id, int qos) throws BrokerException;

    /** Sends a message; does not wait for the broker to have it. */
    void publish(String topic, byte[] payload, int qos, boolean retain, Sent then) throws BrokerException;

    /** Says good-bye where that takes no time; the broker keeps the session if it is one that is kept. */
    @Override
    void close();

    /** What a client says, without secrets. */
    final class BrokerException extends Exception {
        private static final long serialVersionUID = 1;

        BrokerException(String reason) {
            super(reason);
        }

        String reason() {
            return String.valueOf(getMessage());
        }
    }
}
