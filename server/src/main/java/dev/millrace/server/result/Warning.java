package dev.millrace.server.result;

import java.util.Optional;

/** Notices that are warnings: clients that want to hear of nothing less are told of them. */
public final class Warning {
    private static final String PREFIX = "WARNING: ";

    private Warning() {}

    /** A notice that is a warning. */
    public static String of(String text) {
        return PREFIX + text;
    }

    /** What a notice warns of, if it is a warning. */
    public static Optional<String> in(String notice) {
        return notice.startsWith(PREFIX) ? Optional.of(notice.substring(PREFIX.length())) : Optional.empty();
    }
}
