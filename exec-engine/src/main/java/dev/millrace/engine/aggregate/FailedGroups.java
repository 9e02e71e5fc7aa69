package dev.millrace.engine.aggregate;

import dev.millrace.error.MillraceException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Groups that were told to have failed, each with what was said of it: the same is said when that is taken back, whatever the
 * group's values are by then. One thread.
 */
final class FailedGroups {
    private final Map<Long, MillraceException> byEntry = new HashMap<>();
    private final Map<String, MillraceException> byText = new HashMap<>(); // many groups fail of the same

    boolean has(long entry) {
        return !byEntry.isEmpty() && byEntry.containsKey(entry);
    }

    MillraceException why(long entry) {
        return byEntry.get(entry);
    }

    /** What is told of a group now; nothing if it does not fail. */
    void put(long entry, Optional<MillraceException> why) {
        if (why.isPresent()) {
            String text = why.get().sqlState().code() + why.get().getMessage();
            byEntry.put(entry, byText.computeIfAbsent(text, any -> why.get()));
        } else if (!byEntry.isEmpty() && byEntry.remove(entry) != null && byEntry.isEmpty()) {
            byText.clear();
        }
    }
}
