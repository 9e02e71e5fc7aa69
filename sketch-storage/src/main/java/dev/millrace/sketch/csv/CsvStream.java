package dev.millrace.sketch.csv;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A CSV file as a stream of observations: which column is the time, and what type each of the others has.
 *
 * @param schema of the stream; bounds that are shares of a range are of the whole file's
 * @param ticks the time of each row
 * @param timestamps whether times were written as timestamps, and not as numbers
 * @param values by feature and row: a Double, Long, Boolean or String; {@link Optional#empty()} for NULL
 */
public record CsvStream(SketchSchema schema, long[] ticks, boolean timestamps, List<List<Optional<Object>>> values) {
    private static final Set<String> TIME_NAMES =
            Set.of("time", "ts", "timestamp", "datetime", "date_time", "t_s", "t", "event_time", "time_hour", "unix");
    private static final int MOST_DIGITS = 9;
    private static final Pattern LIKE_A_DATE = Pattern.compile("\\d{1,4}([./-])\\d{1,2}\\1\\d{1,4}([ T].*)?");

    /**
     * What to make of a file.
     *
     * @param time the time's column; without one it is found by its name or its values, and else rows are numbered
     * @param bound of numbers
     * @param bounds of single columns by name
     * @param binning of numbers
     * @param timeBound how far times may be off, in seconds
     */
    public record Options(
            Optional<String> time, Bound bound, Map<String, Bound> bounds, Binning binning, BigDecimal timeBound) {}

    public static CsvStream of(CsvTable table, Options options) {
        for (String name : options.bounds().keySet()) {
            column(table, name);
        }
        int timeColumn =
                options.time().isPresent() ? column(table, options.time().get()) : findTime(table);
        Clock clock = timeColumn < 0 ? Clock.numbered(table.rows()) : Clock.of(table, timeColumn);
        List<Feature> features = new ArrayList<>();
        List<List<Optional<Object>>> values = new ArrayList<>();
        for (int c = 0; c < table.names().size(); c++) {
            if (c != timeColumn) {
                List<Optional<Object>> column = convert(table.columns().get(c));
                features.add(feature(table.names().get(c), column, options));
                values.add(column);
            }
        }
        String timeName = timeColumn < 0 ? "row" : table.names().get(timeColumn);
        long bound = options.timeBound()
                .multiply(BigDecimal.valueOf(clock.ticksPerSecond))
                .longValue();
        SketchSchema schema = new SketchSchema(timeName, clock.ticksPerSecond, bound, features);
        return new CsvStream(schema, clock.ticks, clock.timestamps, values);
    }

    /** Hands all rows to an encoder, without closing its last segment. */
    public void feed(StreamEncoder encoder) {
        for (int row = 0; row < ticks.length; row++) {
            Observations to = encoder.row(ticks[row]);
            for (int f = 0; f < values.size(); f++) {
                Object value = values.get(f).get(row).orElse(this);
                if (value instanceof Double number) {
                    to.number(f, number);
                } else if (value instanceof Long whole) {
                    to.whole(f, whole);
                } else if (value instanceof Boolean bool) {
                    to.bool(f, bool);
                } else if (value instanceof String text) {
                    to.text(f, text);
                }
            }
        }
    }

    /** Names of features that were kept as text and look like dates or times. */
    public List<String> unreadTimes() {
        List<String> names = new ArrayList<>();
        for (int f = 0; f < values.size(); f++) {
            List<Object> texts =
                    values.get(f).stream().flatMap(Optional::stream).toList();
            if (schema.feature(f).kind() == Feature.Kind.TEXT
                    && !texts.isEmpty()
                    && texts.stream()
                            .allMatch(text -> LIKE_A_DATE.matcher((String) text).matches())) {
                names.add(schema.feature(f).name());
            }
        }
        return names;
    }

    private static int column(CsvTable table, String name) {
        int found = table.names().indexOf(name);
        if (found < 0) {
            throw MillraceException.user(SqlState.UNDEFINED_COLUMN, "there is no column " + name)
                    .withHint("There are: " + String.join(", ", table.names()));
        }
        return found;
    }

    private static int findTime(CsvTable table) {
        for (int c = 0; c < table.names().size(); c++) {
            List<String> column = table.columns().get(c);
            boolean named = TIME_NAMES.contains(table.names().get(c).toLowerCase(Locale.ROOT));
            if (column.stream()
                    .allMatch(field -> TimeText.parse(field).isPresent()
                            || named
                                    && field.indexOf(',') < 0
                                    && CsvTable.number(field).isPresent())) {
                return c;
            }
        }
        return -1;
    }

    private record Clock(long[] ticks, long ticksPerSecond, boolean timestamps) {
        static Clock numbered(int rows) {
            long[] ticks = new long[rows];
            for (int i = 0; i < rows; i++) {
                ticks[i] = i;
            }
            return new Clock(ticks, 1, false);
        }

        static Clock of(CsvTable table, int column) {
            List<String> fields = table.columns().get(column);
            BigDecimal[] seconds = new BigDecimal[fields.size()];
            boolean timestamps = true;
            int digits = 0;
            for (int i = 0; i < seconds.length; i++) {
                Optional<TimeText> time = TimeText.parse(fields.get(i));
                timestamps &= time.isPresent();
                try {
                    seconds[i] = time.isPresent() ? time.get().seconds() : new BigDecimal(fields.get(i));
                } catch (NumberFormatException e) {
                    throw MillraceException.user(
                            SqlState.INVALID_DATETIME_FORMAT,
                            "row " + (i + 1) + " of column " + table.names().get(column) + " is no time: "
                                    + fields.get(i));
                }
                digits = Math.max(digits, seconds[i].stripTrailingZeros().scale());
            }
            digits = Math.max(0, Math.min(MOST_DIGITS, digits));
            long[] ticks = new long[seconds.length];
            for (int i = 0; i < ticks.length; i++) {
                ticks[i] = seconds[i].movePointRight(digits).longValue();
            }
            return new Clock(ticks, BigDecimal.ONE.movePointRight(digits).longValue(), timestamps);
        }
    }

    private static List<Optional<Object>> convert(List<String> fields) {
        List<String> present = fields.stream().filter(field -> !field.isEmpty()).toList();
        if (!present.isEmpty() && present.stream().allMatch(f -> f.equals("true") || f.equals("false"))) {
            return map(fields, Boolean::valueOf);
        }
        if (present.stream().allMatch(f -> CsvTable.whole(f).isPresent())) {
            return map(fields, f -> CsvTable.whole(f).orElseThrow());
        }
        if (present.stream().allMatch(f -> CsvTable.number(f).isPresent())) {
            return map(fields, f -> CsvTable.number(f).orElseThrow());
        }
        return map(fields, f -> f);
    }

    private static List<Optional<Object>> map(
            List<String> fields, java.util.function.Function<String, Object> convert) {
        List<Optional<Object>> values = new ArrayList<>(fields.size());
        for (String field : fields) {
            values.add(field.isEmpty() ? Optional.empty() : Optional.of(convert.apply(field)));
        }
        return values;
    }

    private static Feature feature(String name, List<Optional<Object>> column, Options options) {
        Object sample = column.stream().flatMap(Optional::stream).findFirst().orElse("");
        if (sample instanceof String) {
            return Feature.text(name);
        }
        if (sample instanceof Boolean) {
            return Feature.bool(name);
        }
        Bound bound = options.bounds().getOrDefault(name, options.bound());
        if (bound.kind() == Bound.Kind.OF_RANGE) {
            double low = Double.POSITIVE_INFINITY;
            double high = Double.NEGATIVE_INFINITY;
            for (Optional<Object> value : column) {
                if (value.isPresent() && Double.isFinite(((Number) value.get()).doubleValue())) {
                    low = Math.min(low, ((Number) value.get()).doubleValue());
                    high = Math.max(high, ((Number) value.get()).doubleValue());
                }
            }
            bound = low <= high ? Bound.ofRange(bound.amount(), low, high) : Bound.exact();
        }
        boolean whole = sample instanceof Long;
        Binning binning =
                whole && options.binning() == Binning.EQUAL_PROBABILITY ? Binning.SMALLEST : options.binning();
        return new Feature(name, whole ? DataType.BIGINT : DataType.DOUBLE, bound, binning);
    }
}
