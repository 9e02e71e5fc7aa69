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
    private final String detail;
    private final @Nullable Constraint constraint;

    /** The constraint that does not hold. @param table which it is of */
    public record Constraint(String schema, String table, String name) {}

    private MillraceException(
            SqlState sqlState, Fault fault, String message, int position, String hint, @Nullable Throwable cause) {
        this(sqlState, fault, message, position, hint, "", null, cause);
    }

    private MillraceException(
            SqlState sqlState,
            Fault fault,
            String message,
            int position,
            String hint,
            String detail,
            @Nullable Constraint constraint,
            @Nullable Throwable cause) {
        super(message, cause);
        this.message = message;
        this.sqlState = Objects.requireNonNull(sqlState);
        this.fault = Objects.requireNonNull(fault);
        this.position = position;
        this.hint = hint;
        this.detail = detail;
        this.constraint = constraint;
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
        return new MillraceException(sqlState, fault, getMessage(), newPosition, hint, detail, constraint, this);
    }

    /** The same error with a hint: what to do about it. */
    public MillraceException withHint(String newHint) {
        return new MillraceException(sqlState, fault, getMessage(), position, newHint, detail, constraint, this);
    }

    /** The same error with a second line: which values it is about. */
    public MillraceException withDetail(String newDetail) {
        return new MillraceException(sqlState, fault, getMessage(), position, hint, newDetail, constraint, this);
    }

    /** The same error, of a constraint. */
    public MillraceException of(Constraint newConstraint) {
        return new MillraceException(sqlState, fault, getMessage(), position, hint, detail, newConstraint, this);
    }

    /** The same error thrown once more, elsewhere. */
    public MillraceException again() {
        return new MillraceException(sqlState, fault, getMessage(), position, hint, detail, constraint, this);
    }

    /** The same error with more of where it happened before its message. */
    public MillraceException in(String where) {
        return new MillraceException(
                sqlState, fault, where + ": " + getMessage(), position, hint, detail, constraint, this);
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

    /** Which values it is about, where the message does not say that. */
    public Optional<String> detail() {
        return detail.isEmpty() ? Optional.empty() : Optional.of(detail);
    }

    /** The constraint that does not hold, where it is one that has a name. */
    public Optional<Constraint> constraint() {
        return Optional.ofNullable(constraint);
    }
}
