package dev.millrace.edge.wire;

import java.nio.charset.StandardCharsets;

/**
 * The topics of a broker by which devices and a server speak: {@code PREFIX/up/DEVICE} is read by the server, {@code PREFIX/down/DEVICE} by the device. What
 * no topic may have in it is percent-encoded. Immutable.
 */
public record DeviceTopics(String prefix) {
    public static final String DEFAULT_PREFIX = "millrace/edge";

    private static final int MOST_PREFIX_BYTES = 1000;
    private static final String FORBIDDEN = "+#%";

    /** Whether topics may begin with it. */
    public static boolean isPrefix(String text) {
        return !text.isEmpty()
                && !text.startsWith("$") // what brokers keep for themselves
                && !text.endsWith("/")
                && text.getBytes(StandardCharsets.UTF_8).length <= MOST_PREFIX_BYTES
                && text.chars().noneMatch(DeviceTopics::isForbidden);
    }

    private static boolean isForbidden(int character) {
        return character < ' ' || character == 0x7f || FORBIDDEN.indexOf(character) >= 0;
    }

    /** A device's name as the end of a topic. */
    public static String levels(String device) {
        StringBuilder levels = new StringBuilder();
        for (int i = 0; i < device.length(); i++) {
            char each = device.charAt(i);
            levels.append(isForbidden(each) ? "%%%02X".formatted((int) each) : String.valueOf(each));
        }
        return levels.toString();
    }

    /** What the server subscribes to. */
    public String allUp() {
        return prefix + "/up/#";
    }

    public String up(String levels) {
        return prefix + "/up/" + levels;
    }

    public String down(String levels) {
        return prefix + "/down/" + levels;
    }

    /** The device of a topic that the server has subscribed to, as {@link #levels} has it. */
    public String levelsOf(String up) {
        return up.substring(Math.min(up.length(), up("").length()));
    }
}
