package dev.millrace.engine.task;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Somebody who holds memory, for messages. */
record MemoryUser(String name, long bytes) {
    private static final int MOST_NAMED = 3;

    /** The largest, largest first: {@code query "a" 120 MB, table "t" 3 MB}. */
    static String largest(List<MemoryUser> users) {
        return users.stream()
                .filter(user -> user.bytes > 0)
                .sorted(Comparator.comparingLong(MemoryUser::bytes).reversed())
                .limit(MOST_NAMED)
                .map(user -> user.name + " " + size(user.bytes))
                .collect(Collectors.joining(", "));
    }

    /** In the unit that leaves two digits or more. */
    static String size(long bytes) {
        if (bytes >= 10L << 20) {
            return (bytes >> 20) + " MB";
        }
        return bytes >= 10L << 10 ? (bytes >> 10) + " kB" : bytes + " bytes";
    }
}
