package dev.millrace.error;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A failure that a user is told: one line that names the thing, a SQLSTATE, the position in the SQL text where there is
 * one, and a hint when there is a likely cure.
 *
 * <p>Bugs of ours are not this exception but assertions and the JDK's; whoever talks to the user wraps those as
 * {@link SqlState#INTERNAL_ERROR}.
 */
public final class MillraceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whose fault it is. */
    public enum Fault {
        USER,
        RESOURCES,
        EXTERNAL,
        INTERNAL
    }

    private final String message; // super's may be null, as far as its callers know
    private final SqlState sqlState;
    private final Fault fault;
    private final int position;
    private final String hint;

    private MillraceException(
            SqlState sqlState, Fault fault, String message, int position, String hint, @Nullable Throwable cause) {
        super(message, cause);
        this.message = message;
        this.sqlState = Objects.requireNonNull(sqlState);
        this.fault = Objects.requireNonNull(fault);
        this.position = position;
        this.hint = hint;
    }

    /** An error in what the user wrote or sent. */
    public static MillraceException user(SqlState sqlState, String message) {
        return new MillraceException(sqlState, Fault.USER, message, 0, "", null);
    }

    /** Memory, disk or a limit ran out. */
    public static MillraceException resources(SqlState sqlState, String message) {
        return new MillraceException(sqlState, Fault.RESOURCES, message, 0, "", null);
    }

    /** Something outside failed: a file, a broker, a network. */
    public static MillraceException external(SqlState sqlState, String message, Throwable cause) {
        return new MillraceException(sqlState, Fault.EXTERNAL, message, 0, "", cause);
    }

    /** The same where no exception said so. */
    public static MillraceException external(SqlState sqlState, String message) {
        return new MillraceException(sqlState, Fault.EXTERNAL, message, 0, "", null);
    }

    /** A defect of ours that was noticed. */
    public static MillraceException internal(String message, Throwable cause) {
        return new MillraceException(SqlState.INTERNAL_ERROR, Fault.INTERNAL, message, 0, "", cause);
    }

    /** The same where no exception said so. */
    public static MillraceException internal(String message) {
        return new MillraceException(SqlState.INTERNAL_ERROR, Fault.INTERNAL, message, 0, "", null);
    }

    /** What the dialect has but this version does not run yet. */
    public static MillraceException notAvailableYet(String feature) {
        return user(SqlState.FEATURE_NOT_SUPPORTED, feature + " is not available yet");
    }

    /** The same error at a position of the SQL text, counted in characters from 1. */
    public MillraceException at(int newPosition) {
        return new MillraceException(sqlState, fault, getMessage(), newPosition, hint, this);
    }

    /** The same error with a hint: what to do about it. */
    public MillraceException withHint(String newHint) {
        return new MillraceException(sqlState, fault, getMessage(), position, newHint, this);
    }

    /** The same error thrown once more, elsewhere. */
    public MillraceException again() {
        return new MillraceException(sqlState, fault, getMessage(), position, hint, this);
    }

    /** The same error with more of where it happened before its message. */
    public MillraceException in(String where) {
        return new MillraceException(sqlState, fault, where + ": " + getMessage(), position, hint, this);
    }

    @Override
    public String getMessage() {
        return message;
    }

    public SqlState sqlState() {
        return sqlState;
    }

    public Fault fault() {
        return fault;
    }

    /** Characters from 1 into the SQL text, where the error has a place there. */
    public OptionalInt position() {
        return position > 0 ? OptionalInt.of(position) : OptionalInt.empty();
    }

    public Optional<String> hint() {
        return hint.isEmpty() ? Optional.empty() : Optional.of(hint);
    }
}
