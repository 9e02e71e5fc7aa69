package dev.millrace.server.storage;

import java.util.Optional;

/**
 * An object as it is kept.
 *
 * @param kind as SQL names it: {@code materialized view}
 * @param sql the statement that makes it
 * @param createdMicros when it was made first, since 1970 UTC
 * @param owner its role
 * @param jar of a Java function: the hash of its jar
 * @param paused whether it stands still
 */
public record KeptObject(
        String name, String kind, String sql, long createdMicros, String owner, Optional<String> jar, boolean paused) {
    KeptObject withPaused(boolean now) {
        return new KeptObject(name, kind, sql, createdMicros, owner, jar, now);
    }

    KeptObject withOwner(String newOwner) {
        return new KeptObject(name, kind, sql, createdMicros, newOwner, jar, paused);
    }
}
