package dev.millrace.edge.mqtt;

import java.util.Map;

/** What a broker's numbers say (2.4 of the standard). Stateless. */
final class ReasonCodes {
    static final int FIRST_FAILURE = 0x80;
    static final int NO_SUBSCRIBERS = 0x10;

    private static final Map<Integer, String> TEXTS = Map.ofEntries(
            Map.entry(0x81, "malformed packet"),
            Map.entry(0x82, "protocol error"),
            Map.entry(0x84, "it does not speak MQTT 5"),
            Map.entry(0x85, "the client identifier is not valid"),
            Map.entry(0x86, "user or password are wrong"),
            Map.entry(0x87, "not authorized"),
            Map.entry(0x88, "it is not available"),
            Map.entry(0x89, "it is busy"),
            Map.entry(0x8A, "banned"),
            Map.entry(0x8B, "it is shutting down"),
            Map.entry(0x8D, "nothing was sent for too long"),
            Map.entry(0x8E, "another client has connected with the same identifier"),
            Map.entry(0x8F, "the topic filter is not valid"),
            Map.entry(0x90, "the topic is not valid"),
            Map.entry(0x93, "too many messages at once"),
            Map.entry(0x95, "a packet is too large"),
            Map.entry(0x96, "messages come too fast"),
            Map.entry(0x97, "a quota is used up"),
            Map.entry(0x9B, "it does not do QoS 1"),
            Map.entry(0x9F, "connections come too fast"));

    private ReasonCodes() {}

    static String text(int code, String said) {
        String known = TEXTS.getOrDefault(code, "reason code 0x" + Integer.toHexString(code));
        return said.isEmpty() ? known : known + " (" + said.replaceAll("\\p{Cntrl}", " ") + ")";
    }
}
