package dev.millrace.connectors.datagen;

import dev.millrace.connector.Options;
import dev.millrace.connectors.random.Draws;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the options of one column, {@code name.kind} and so on, into its rule. */
final class ColumnOptions {
    private enum Kind {
        SEQUENCE,
        RANDOM,
        VALUES
    }

    private static final String FIRST_TIME = "2026-01-01 00:00:00";
    private static final String LAST_TIME = "2026-12-31 23:59:59.999999";
    private static final int LONGEST_TEXT = 1 << 16;
    private static final int MOST_SCALE = 18; // of a number of 64 bits

    private final Field field;
    private final Options options;
    private final long salt;
    private DataType drawn; // of which values are as 64 bits

    private ColumnOptions(Field field, Options options, long salt) {
        this.field = field;
        this.options = options;
        this.salt = salt;
        this.drawn = field.type();
    }

    static GenerationRule rule(Field field, int column, Draws draws, Options options) {
        ColumnOptions reader = new ColumnOptions(field, options, draws.salt(2 * column));
        GenerationRule.Values values = reader.values();
        return new GenerationRule(field, draws.salt(2 * column + 1), reader.nullFraction(), values);
    }

    private String name(String option) {
        return field.name() + "." + option;
    }

    private double nullFraction() {
        return options.text(name("nulls"))
                .map(text -> {
                    try {
                        double fraction = Double.parseDouble(text);
                        if (fraction >= 0 && fraction <= 1 && (fraction == 0 || field.nullable())) {
                            return fraction;
                        }
                    } catch (NumberFormatException e) {
                        // falls through to the one message for both
                    }
                    throw Options.invalid(
                            name("nulls"),
                            text,
                            field.nullable() ? "a fraction from 0 to 1" : "0: the column is NOT NULL");
                })
                .orElse(0.0);
    }

    private GenerationRule.Values values() {
        Optional<String> list = options.text(name("values"));
        Kind usual = list.isPresent() ? Kind.VALUES : isTime() ? Kind.SEQUENCE : Kind.RANDOM;
        Kind kind = options.oneOf(name("kind"), usual);
        DataType type = field.type();
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, NUMERIC, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> longs(kind);
            case REAL, DOUBLE -> doubles(kind);
            case TEXT, VARCHAR, CHAR -> texts(kind);
            case BIGNUM -> numbers(kind);
            case BYTEA, INTERVAL, UUID, JSONB, ARRAY, ROW, NULL ->
                throw MillraceException.notAvailableYet("a column of type " + type + " in datagen");
        };
    }

    private boolean isTime() {
        return switch (field.type().kind()) {
            case DATE, TIMESTAMP, TIMESTAMPTZ -> true;
            default -> false;
        };
    }

    /** With as many digits after the point as the options have. */
    private GenerationRule.Numbers numbers(Kind kind) {
        List<String> read = switch (kind) {
            case SEQUENCE -> List.of("start", "step");
            case RANDOM -> List.of("min", "max");
            case VALUES -> List.of("values");
        };
        int scale = read.stream()
                .flatMap(option -> options.text(name(option)).stream())
                .flatMap(text -> Arrays.stream(text.split(",")))
                .map(String::strip)
                .mapToInt(text -> text.indexOf('.') < 0 ? 0 : text.length() - text.indexOf('.') - 1)
                .max()
                .orElse(0);
        drawn = DataType.numeric(DataType.MAX_NUMERIC_PRECISION, Math.min(scale, MOST_SCALE));
        return new GenerationRule.Numbers(longs(kind), drawn.scale());
    }

    private GenerationRule.Longs longs(Kind kind) {
        return switch (kind) {
            case SEQUENCE -> {
                long start = number("start", isTime() ? FIRST_TIME : "0");
                long step = step();
                long jitter = isTime() ? options.durationMicros(name("jitter"), 0) : 0;
                yield jitter == 0
                        ? row -> start + row * step
                        : row -> start + row * step - scaled(Draws.draw(salt, row), jitter + 1);
            }
            case RANDOM -> {
                long least = number("min", isTime() ? FIRST_TIME : "0");
                String most = field.type().kind() == DataType.Kind.BOOLEAN ? "1" : isTime() ? LAST_TIME : "100";
                long width = number("max", most) - least + 1;
                if (width <= 0 || width > Long.MAX_VALUE / 2) {
                    throw Options.invalid(
                            name("max"),
                            options.text(name("max"), most),
                            "at least " + name("min") + ", and not too far from it");
                }
                yield row -> least + scaled(Draws.draw(salt, row), width);
            }
            case VALUES -> {
                long[] values = Arrays.stream(list())
                        .mapToLong(text -> parse("values", text))
                        .toArray();
                yield row -> values[(int) scaled(Draws.draw(salt, row), values.length)];
            }
        };
    }

    private GenerationRule.Doubles doubles(Kind kind) {
        return switch (kind) {
            case SEQUENCE -> {
                double start = Double.longBitsToDouble(number("start", "0"));
                double step = Double.longBitsToDouble(number("step", "1"));
                yield row -> start + row * step;
            }
            case RANDOM -> {
                double least = Double.longBitsToDouble(number("min", "0"));
                double most = Double.longBitsToDouble(number("max", "100"));
                yield row -> least + (most - least) * ((Draws.draw(salt, row) >>> 11) * 0x1p-53);
            }
            case VALUES -> {
                double[] values = Arrays.stream(list())
                        .mapToDouble(text -> Double.longBitsToDouble(parse("values", text)))
                        .toArray();
                yield row -> values[(int) scaled(Draws.draw(salt, row), values.length)];
            }
        };
    }

    private GenerationRule.Texts texts(Kind kind) {
        return switch (kind) {
            case SEQUENCE -> {
                long start = options.integer(name("start"), 0, Long.MIN_VALUE, Long.MAX_VALUE);
                String prefix = options.text(name("prefix"), "");
                yield row -> prefix + (start + row);
            }
            case RANDOM -> {
                int most = field.type().precision() == 0
                        ? LONGEST_TEXT
                        : field.type().precision();
                int length = (int) options.integer(name("length"), Math.min(8, most), 0, most);
                yield row -> letters(Draws.draw(salt, row), length);
            }
            case VALUES -> {
                String[] values = list();
                yield row -> values[(int) scaled(Draws.draw(salt, row), values.length)];
            }
        };
    }

    private static String letters(long draw, int length) {
        char[] letters = new char[length];
        for (int i = 0; i < length; i++) {
            letters[i] = (char) ('a' + Draws.below(Draws.draw(draw, i), 26));
        }
        return new String(letters);
    }

    /** A draw scaled to 0 ... width - 1: the upper half of their product. */
    private static long scaled(long draw, long width) {
        return Math.multiplyHigh(draw >>> 1, width << 1);
    }

    private String[] list() {
        String[] values = options.required(name("values")).split(",", -1);
        return Arrays.stream(values).map(String::trim).toArray(String[]::new);
    }

    private long step() {
        return switch (field.type().kind()) {
            case TIME, TIMESTAMP, TIMESTAMPTZ -> options.durationMicros(name("step"), 1_000_000);
            case DATE -> options.integer(name("step"), 1, -1_000_000, 1_000_000);
            default -> number("step", "1");
        };
    }

    private long number(String option, String defaultText) {
        return parse(option, options.text(name(option), defaultText));
    }

    /** A value of the column's type as 64 bits. */
    private long parse(String option, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(Math.max(1, bytes.length));
        try {
            Memory.copyIn(bytes, 0, address, bytes.length);
            ValueParser parser = new ValueParser();
            boolean fits = parser.tryParse(drawn, address, bytes.length)
                    && (drawn.kind() != DataType.Kind.NUMERIC || parser.high() == parser.value() >> 63);
            if (!fits) {
                throw Options.invalid(
                        name(option),
                        text,
                        "a value of type " + field.type().toString().toLowerCase(Locale.ROOT));
            }
            return parser.value();
        } finally {
            Memory.free(address);
        }
    }
}
