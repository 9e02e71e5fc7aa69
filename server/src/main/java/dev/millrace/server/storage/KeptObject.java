package dev.millrace.server.storage;

import dev.millrace.sql.text.PackedText;
import dev.millrace.type.PlainNumeric;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An object as it is kept.
 *
 * @param kind as SQL names it: {@code materialized view}
 * @param text of the statement that makes it
 * @param createdMicros when it was made first, since 1970 UTC
 * @param owner its role
 * @param jar of a Java function: the hash of its jar
 * @param number that it has alone, greater than zero, also among those that were dropped or altered: by it the log knows its rows
 *     and a checkpoint what it keeps; none of one that was kept by a version without such numbers
 * @param since the number of the last record of the log of rows that came before it was there, or was altered
 * @param basis of a query: what the planner was told of rows, by question ({@code dev.millrace.server.planning.PlanBasis})
 * @param paused as {@code since}, of the moment from which on it stands still; none if it runs
 * @param numeric what NUMERIC without digits means in the statement
 */
public record KeptObject(
        String name,
        String kind,
        PackedText text,
        long createdMicros,
        String owner,
        Optional<String> jar,
        OptionalLong number,
        long since,
        Map<String, Double> basis,
        OptionalLong paused,
        PlainNumeric numeric) {
    public KeptObject {
        basis = Map.copyOf(basis);
    }

    /** One that a statement makes. */
    public KeptObject(
            String name,
            String kind,
            String sql,
            long createdMicros,
            String owner,
            Optional<String> jar,
            OptionalLong number,
            long since,
            Map<String, Double> basis,
            OptionalLong paused,
            PlainNumeric numeric) {
        this(name, kind, PackedText.of(sql, name), createdMicros, owner, jar, number, since, basis, paused, numeric);
    }

    /** The statement that makes it. */
    public String sql() {
        return text.toString();
    }

    /** The same with what it has in common with another, kind, owner and basis, in the very objects that the other has: there may be very many. */
    KeptObject sharing(KeptObject other) {
        return new KeptObject(
                name,
                kind.equals(other.kind) ? other.kind : kind,
                text,
                createdMicros,
                owner.equals(other.owner) ? other.owner : owner,
                jar,
                number,
                since,
                basis.equals(other.basis) ? other.basis : basis,
                paused,
                numeric);
    }

    /** The same under another name. @param newBasis as {@code basis}, by the names that relations have now */
    public KeptObject renamed(String newName, String newSql, Map<String, Double> newBasis) {
        return new KeptObject(
                newName, kind, newSql, createdMicros, owner, jar, number, since, newBasis, paused, numeric);
    }

    /** The same with an equal text. */
    KeptObject withText(PackedText same) {
        return new KeptObject(name, kind, same, createdMicros, owner, jar, number, since, basis, paused, numeric);
    }

    /** The same that stands still, or does not. */
    public KeptObject withPaused(OptionalLong now) {
        return new KeptObject(name, kind, text, createdMicros, owner, jar, number, since, basis, now, numeric);
    }

    /** Whether it says of something that it came behind a record which the log of rows has not. */
    public boolean isAheadOf(long last) {
        return since > last || paused.orElse(last) > last;
    }

    /** The same for a log that ends with this record, as those behind it were lost: who comes next is behind it. */
    public KeptObject notAheadOf(long last) {
        OptionalLong then = paused.isPresent() ? OptionalLong.of(Math.min(paused.getAsLong(), last)) : paused;
        return new KeptObject(
                name, kind, text, createdMicros, owner, jar, number, Math.min(since, last), basis, then, numeric);
    }

    /** The same of another role. */
    public KeptObject withOwner(String newOwner) {
        return new KeptObject(name, kind, text, createdMicros, newOwner, jar, number, since, basis, paused, numeric);
    }

    /** The same of an object that has a number now. */
    public KeptObject withNumber(long given) {
        return new KeptObject(
                name, kind, text, createdMicros, owner, jar, OptionalLong.of(given), since, basis, paused, numeric);
    }
}
