package dev.millrace.server.sketched;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How a stream's old rows are sketched, as its options say.
 *
 * @param key columns by which rows are kept apart; may be none
 * @param error how far numbers may be off
 * @param errors the same of single columns
 * @param timeErrorMicros how far event times may be off
 * @param segmentMicros event time after which a sketch ends; empty where it has as many rows as fit
 */
public record SketchClause(
        List<String> key, Bound error, Map<String, Bound> errors, long timeErrorMicros, OptionalLong segmentMicros) {
    private static final String PREFIX = "sketch.";
    private static final String ERROR_OF = "sketch.error.";
    private static final String ERROR =
            "a share of the range such as 0.01 or '1%', an error in the column's unit such as"
                    + " '0.1 abs', or 0 for exact";
    private static final Bound DEFAULT_ERROR = Bound.ofRange(.01);

    /** Reads the options {@code sketch.*}. */
    public static SketchClause of(Options options) {
        List<String> key = options.text("sketch.key")
                .map(text ->
                        Arrays.stream(text.split(",", -1)).map(String::trim).toList())
                .orElse(List.of());
        Map<String, Bound> errors = new TreeMap<>();
        for (String name : options.names()) {
            if (name.startsWith(ERROR_OF)) {
                errors.put(
                        name.substring(ERROR_OF.length()), bound(options, name).orElseThrow());
            }
        }
        long timeError = positiveOrZero(options, "sketch.time_error");
        OptionalLong segment = options.text("sketch.segment").isPresent()
                ? OptionalLong.of(positiveOrZero(options, "sketch.segment"))
                : OptionalLong.empty();
        if (segment.orElse(1) == 0) {
            throw Options.invalid("sketch.segment", "0", "a time, such as 60s");
        }
        return new SketchClause(key, bound(options, "sketch.error").orElse(DEFAULT_ERROR), errors, timeError, segment);
    }

    /** Whether any option is about sketches. */
    public static Optional<String> firstIn(Options options) {
        return options.names().stream().filter(name -> name.startsWith(PREFIX)).findFirst();
    }

    private static long positiveOrZero(Options options, String name) {
        long micros = options.durationMicros(name, 0);
        if (micros < 0) {
            throw Options.invalid(name, options.text(name, ""), "a time that is not negative, such as 60s");
        }
        return micros;
    }

    private static Optional<Bound> bound(Options options, String name) {
        return options.text(name).map(given -> {
            String text = given.trim().toLowerCase(Locale.ROOT);
            boolean isAbsolute = text.endsWith("abs");
            boolean isPercent = text.endsWith("%");
            String digits = isAbsolute
                    ? text.substring(0, text.length() - 3).trim()
                    : isPercent ? text.substring(0, text.length() - 1).trim() : text;
            try {
                double number = Double.parseDouble(digits) / (isPercent ? 100 : 1);
                if (number >= 0 && number < Double.POSITIVE_INFINITY && (isAbsolute || number < 1)) {
                    return isAbsolute ? Bound.absolute(number) : Bound.ofRange(number);
                }
            } catch (NumberFormatException e) {
                // the one message for both
            }
            throw Options.invalid(name, given, ERROR);
        });
    }

    /** How far values of a column may be off, and whether that was said of it. */
    Bound errorOf(String column) {
        return errors.getOrDefault(column, error);
    }

    /**
     * Whether values of a column that is no key may be off: whole numbers only where that is said of them, as they may be
     * identifiers, of which one that is off is another.
     */
    boolean mayBeOff(Field field) {
        return switch (field.type().kind()) {
            case REAL, DOUBLE -> errorOf(field.name()).kind() != Bound.Kind.EXACT;
            case SMALLINT, INTEGER, BIGINT ->
                errors.containsKey(field.name()) && errorOf(field.name()).kind() != Bound.Kind.EXACT;
            default -> false;
        };
    }

    /**
     * Holds the clause to the columns of its stream.
     *
     * @return the places of the key's columns
     * @throws MillraceException 42703, 42701, 22023 or 0A000
     */
    List<Integer> keyOf(Schema schema, Optional<Integer> eventTime) {
        List<Integer> places = new ArrayList<>();
        for (String name : key) {
            int place = place(schema, name, "sketch.key");
            if (places.contains(place)) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_COLUMN, "option \"sketch.key\" names column \"" + name + "\" twice");
            }
            if (schema.type(place).isNested() || eventTime.equals(Optional.of(place))) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "option \"sketch.key\" cannot name column \"" + name + "\", which is "
                                + (schema.type(place).isNested() ? schema.type(place) : "the event time"));
            }
            places.add(place);
        }
        errors.forEach((name, bound) -> {
            int place = place(schema, name, ERROR_OF + name);
            if (bound.kind() == Bound.Kind.EXACT) {
                return;
            }
            if (places.contains(place)) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"" + ERROR_OF + name + "\" is about a column of sketch.key")
                        .withHint("keys are kept exactly");
            }
            if (!isNumber(schema.type(place))) {
                MillraceException refused = MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "option \"" + ERROR_OF + name + "\" is about a column of type " + schema.type(place)
                                + ", which is kept exactly");
                throw eventTime.equals(Optional.of(place))
                        ? refused.withHint("sketch.time_error is for event times")
                        : refused;
            }
        });
        if (timeErrorMicros > 0 && eventTime.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"sketch.time_error\" is about event times, and the stream has none")
                    .withHint("WATERMARK FOR says which column it is");
        }
        return List.copyOf(places);
    }

    /** Whether values of a type may be off. */
    static boolean isNumber(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT, REAL, DOUBLE -> true;
            default -> false;
        };
    }

    private static int place(Schema schema, String name, String option) {
        for (int i = 0; i < schema.size(); i++) {
            if (schema.field(i).name().equals(name)) {
                return i;
            }
        }
        MillraceException error = MillraceException.user(
                SqlState.UNDEFINED_COLUMN, "option \"" + option + "\": column \"" + name + "\" does not exist");
        throw Suggestion.nearest(name, schema.names())
                .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                .orElse(error);
    }
}
