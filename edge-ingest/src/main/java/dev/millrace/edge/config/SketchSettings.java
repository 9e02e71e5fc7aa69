package dev.millrace.edge.config;

import dev.millrace.edge.program.RowProgram;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.stream.EncoderOptions;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How a stream is sketched: what {@code edge.conf} says, and what the server sets over it ({@link #with}).
 *
 * @param error of numbers with a fraction, unless a column has its own
 * @param errors by column
 * @param segmentMicros event time after which a segment closes
 * @param segmentRows rows at which it closes
 * @param timeErrorMicros how far times may be off
 * @param sample of how many rows one is taken
 * @param enabled whether rows are taken at all
 * @param bins of columns that are not exact
 * @param rows which of those that are taken are sent
 */
public record SketchSettings(
        Bound error,
        Map<String, Bound> errors,
        long segmentMicros,
        int segmentRows,
        long timeErrorMicros,
        long sample,
        boolean enabled,
        BinSettings bins,
        RowSettings rows) {
    /** What names of settings begin with that have what a query needs, which the server makes of it. */
    public static final String QUERY = "query.";

    /** What names of settings begin with that have the windows of a query. */
    public static final String WINDOWS = "windows.";

    /** The setting of which rows are sent. */
    public static final String ROWS = "rows";

    /** Its value for those alone that queries need. */
    public static final String ONLY_NEEDED = "queries";

    /** Its value for all. */
    public static final String ALL_ROWS = "all";

    private static final long MICROS = 1_000_000;
    private static final int MOST_ROWS = 1 << 16;
    private static final String ERROR_OF = "sketch.error.";
    private static final String BINS_OF = "sketch.bins.";
    private static final List<String> NAMES = List.of(
            "sketch.error",
            ERROR_OF + "COLUMN",
            "sketch.segment",
            "sketch.rows",
            "sketch.time_error",
            BINS_OF + "COLUMN",
            "sketch.evaluation",
            "sample",
            "enabled",
            ROWS);

    public static final SketchSettings DEFAULTS = new SketchSettings(
            Bound.exact(),
            Map.of(),
            60 * MICROS,
            EncoderOptions.DEFAULT_ROWS * 8,
            0,
            1,
            true,
            BinSettings.NONE,
            RowSettings.ALL);

    public SketchSettings {
        errors = Map.copyOf(errors);
        if (segmentRows < 1 || segmentRows > Math.min(MOST_ROWS, Limits.ROWS)) {
            throw invalid("sketch.rows", "" + segmentRows, "1 to " + MOST_ROWS);
        }
    }

    /**
     * The same with some others.
     *
     * @param changes by name, as text
     * @throws MillraceException 22023 naming what is wrong; of what a query needs also 0A000 and 54000
     */
    public SketchSettings with(Map<String, String> changes) {
        Change change = new Change(this);
        new TreeMap<>(changes).forEach((name, value) -> change.set(name, value.strip()));
        return change.made();
    }

    /** Settings that are being changed. */
    private static final class Change {
        private Bound error;
        private final Map<String, Bound> errors;
        private long segmentMicros;
        private int segmentRows;
        private long timeErrorMicros;
        private long sample;
        private boolean enabled;
        private BinSettings bins;
        private RowSettings rows;

        Change(SketchSettings from) {
            error = from.error;
            errors = new TreeMap<>(from.errors);
            segmentMicros = from.segmentMicros;
            segmentRows = from.segmentRows;
            timeErrorMicros = from.timeErrorMicros;
            sample = from.sample;
            enabled = from.enabled;
            bins = from.bins;
            rows = from.rows;
        }

        SketchSettings made() {
            return new SketchSettings(
                    error, errors, segmentMicros, segmentRows, timeErrorMicros, sample, enabled, bins, rows);
        }

        void set(String name, String value) {
            if (name.startsWith(ERROR_OF)) {
                errors.put(name.substring(ERROR_OF.length()), bound(name, value));
                return;
            } else if (name.startsWith(BINS_OF)) {
                bins = bins.withColumn(name, name.substring(BINS_OF.length()), value);
                return;
            } else if (name.startsWith(QUERY)) {
                rows = rows.withQuery(name.substring(QUERY.length()), RowProgram.parse(value));
                return;
            } else if (name.startsWith(WINDOWS)) {
                rows = rows.withWindows(WindowProgram.parse(value));
                return;
            }
            switch (name) {
                case "sketch.error" -> error = bound(name, value);
                case "sketch.segment" -> segmentMicros = micros(name, value, 1);
                case "sketch.rows" -> segmentRows = (int) integer(name, value, 1, MOST_ROWS);
                case "sketch.time_error" -> timeErrorMicros = micros(name, value, 0);
                case "sketch.evaluation" ->
                    bins = bins.withEvaluation(
                            value.equals("off") ? OptionalLong.empty() : OptionalLong.of(micros(name, value, 0)));
                case "sample" -> sample = integer(name, value, 1, Integer.MAX_VALUE);
                case "enabled" -> enabled = truth(name, value);
                case ROWS -> rows = rows.onlyNeeded(onlyNeeded(name, value));
                default -> throw unknown(name);
            }
        }
    }

    private static MillraceException unknown(String name) {
        MillraceException unknown =
                MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "there is no setting \"" + name + "\"");
        return Suggestion.nearest(name, NAMES)
                .map(nearest -> unknown.withHint("did you mean \"" + nearest + "\"?"))
                .orElseGet(() -> unknown.withHint("there are: " + String.join(", ", NAMES)));
    }

    private static boolean onlyNeeded(String name, String value) {
        if (!value.equals(ONLY_NEEDED) && !value.equals(ALL_ROWS)) {
            throw invalid(name, value, ALL_ROWS + " or " + ONLY_NEEDED);
        }
        return value.equals(ONLY_NEEDED);
    }

    /** The bound of a column; of others than numbers with a fraction only one of their own counts. */
    public Bound bound(String column, boolean hasFraction) {
        Bound own = errors.get(column);
        return own != null ? own : hasFraction ? error : Bound.exact();
    }

    /** {@code 0.01} and {@code 1%} of the range, {@code 0.5 abs}, {@code 0} for exact. */
    private static Bound bound(String name, String text) {
        try {
            if (text.endsWith("abs")) {
                return Bound.absolute(Double.parseDouble(text.substring(0, text.length() - 3)));
            }
            return text.endsWith("%")
                    ? Bound.ofRange(Double.parseDouble(text.substring(0, text.length() - 1)) / 100)
                    : Bound.ofRange(Double.parseDouble(text));
        } catch (NumberFormatException e) {
            throw invalid(name, text, "1% or 0.01 (of the range), 0.5 abs, or 0 (exact)");
        }
    }

    /** {@code 100us}, {@code 20ms}, {@code 1.5s}, {@code 1m}, {@code 1h}. */
    static long micros(String name, String text, long least) {
        String unit = text.replaceAll("[0-9.\\s]", "");
        double scale = switch (unit) {
            case "us" -> 1;
            case "ms" -> 1_000;
            case "s", "" -> MICROS;
            case "m", "min" -> 60 * MICROS;
            case "h" -> 3600 * MICROS;
            case "d" -> 86_400 * MICROS;
            default -> Double.NaN;
        };
        try {
            double micros = Double.parseDouble(text.replaceAll("[a-z\\s]", "")) * scale;
            if (micros >= least && micros < Long.MAX_VALUE / 2) {
                return Math.round(micros);
            }
        } catch (NumberFormatException e) {
            // falls through to the one message for all
        }
        throw invalid(name, text, "a time such as 500ms, 60s, 5m or 1h");
    }

    private static long integer(String name, String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // falls through to the one message for all
        }
        throw invalid(name, text, least + " to " + most);
    }

    private static boolean truth(String name, String text) {
        return switch (text) {
            case "true", "on", "yes" -> true;
            case "false", "off", "no" -> false;
            default -> throw invalid(name, text, "true or false");
        };
    }

    private static MillraceException invalid(String name, String text, String expected) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "setting \"" + name + "\" cannot be \"" + text + "\": it is " + expected);
    }
}
