package dev.millrace.server.storage;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * An object as it is kept.
 *
 * @param kind as SQL names it: {@code materialized view}
 * @param sql the statement that makes it
 * @param createdMicros when it was made first, since 1970 UTC
 * @param owner its role
 * @param jar of a Java function: the hash of its jar
 * @param rows of a table: the number by which the log of rows knows it, greater than zero; none of a table that was kept by a
 *     version without such a log
 * @param paused whether it stands still
 */
public record KeptObject(
        String name,
        String kind,
        String sql,
        long createdMicros,
        String owner,
        Optional<String> jar,
        OptionalLong rows,
        boolean paused) {
    KeptObject withPaused(boolean now) {
        return new KeptObject(name, kind, sql, createdMicros, owner, jar, rows, now);
    }

    KeptObject withOwner(String newOwner) {
        return new KeptObject(name, kind, sql, createdMicros, newOwner, jar, rows, paused);
    }

    /** The same of a table whose rows have a number. */
    public KeptObject withRows(long number) {
        return new KeptObject(name, kind, sql, createdMicros, owner, jar, OptionalLong.of(number), paused);
    }
}
