package dev.millrace.connectors.mqtt;

/**
 * A message that is sent to a broker.
 *
 * @param answer who is told what became of it
 */
record Publication(String topic, byte[] payload, int qos, boolean retain, Answer answer) {
    /** What became of it: one of these is called, once, on the client's thread, which must not be held up. */
    interface Answer {
        /** The broker has it; at QoS 0 it was written to the connection. */
        void taken();

        /** The connection went before the broker said so, or the broker takes no more for now. */
        void failed(String reason);

        /** The broker does not want it. */
        void refused(String reason);
    }
}
