package dev.millrace.sql.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.PlainNumeric;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.NlsString;

/** Constants from their text. */
public final class Literals {
    private static final int LONGEST_NUMBER = 1_000; // characters

    private Literals() {}

    /**
     * The value of a text as an input of the type, by the rules of PostgreSQL's input functions: fails with 22P02, 22007,
     * 22008 or 22003.
     */
    public static Literal parse(DataType type, String text) {
        return parse(type, text, TimeStyle.PLAIN);
    }

    /** The same. @param style of dates and times in the text */
    public static Literal parse(DataType type, String text, TimeStyle style) {
        return switch (type.kind()) {
            case TEXT -> new Literal(text, type);
            case JSONB -> new Literal(JsonNormalizer.normalize(text), type);
            case VARCHAR, CHAR -> new Literal(fitting(type, text), type);
            case BYTEA -> new Literal(bytes(text), type);
            case ARRAY, ROW -> new Literal(new NestedConstant(type, text, style).values(), type);
            case NULL -> throw MillraceException.notAvailableYet("a constant of type " + type);
            default -> scalar(type, text, style);
        };
    }

    /** The text of a text constant. */
    public static Optional<String> textOf(RexNode node) {
        return node instanceof RexLiteral literal && !literal.isNull() && literal.getTypeName() == SqlTypeName.CHAR
                ? Optional.of(literal.getValueAs(NlsString.class).getValue())
                : Optional.empty();
    }

    /** The microseconds of a fixed duration; fails when it has months. */
    public static long durationMicros(IntervalValue interval) {
        if (interval.months() != 0) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "a duration cannot have months or years: their length varies")
                    .withHint("write it in days, hours, minutes or seconds");
        }
        return interval.comparableMicros();
    }

    private static Literal scalar(DataType type, String text, TimeStyle style) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(Math.max(1, utf8.length));
        try {
            Memory.copyIn(utf8, 0, address, utf8.length);
            ValueParser parser = new ValueParser();
            parser.inStyle(style);
            if (!parser.tryParse(type, address, utf8.length)) {
                throw parser.failure(type, address, utf8.length);
            }
            return new Literal(value(type, parser), type);
        } finally {
            Memory.free(address);
        }
    }

    private static Object value(DataType type, ValueParser parser) {
        return switch (type.kind()) {
            case BOOLEAN -> parser.value() != 0;
            case REAL, DOUBLE -> parser.doubleValue();
            case NUMERIC ->
                new BigDecimal(
                        BigInteger.valueOf(parser.high())
                                .shiftLeft(64)
                                .or(BigInteger.valueOf(parser.value()).and(UNSIGNED_LONG_MASK)),
                        type.scale());
            case BIGNUM -> parser.bignum();
            case INTERVAL -> new IntervalValue(parser.months(), parser.days(), parser.value());
            case UUID -> new UUID(parser.high(), parser.value());
            default -> parser.value();
        };
    }

    private static final BigInteger UNSIGNED_LONG_MASK =
            BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    /** What a cast to VARCHAR(n) or CHAR(n) makes of a text: it cuts what is too long. */
    public static Literal cut(DataType type, String text) {
        int length = type.precision();
        return parse(
                type,
                length == 0 || length(text) <= length ? text : text.substring(0, text.offsetByCodePoints(0, length)));
    }

    /** Characters of a text. */
    public static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    /** A text of at most the type's length: only blanks may be lost, and those at the end of a CHAR always are. */
    private static String fitting(DataType type, String text) {
        String value = type.kind() == DataType.Kind.CHAR ? text.stripTrailing() : text;
        int length = type.precision();
        if (length > 0 && length(value) > length) {
            value = value.substring(0, value.offsetByCodePoints(0, length));
            if (!text.substring(value.length()).isBlank()) {
                throw MillraceException.user(SqlState.STRING_DATA_RIGHT_TRUNCATION, "value too long for type " + type);
            }
        }
        return value;
    }

    private static List<Byte> bytes(String text) {
        byte[] bytes;
        if (text.startsWith("\\x")) {
            try {
                bytes = HexFormat.of().parseHex(text.substring(2).replace(" ", ""));
            } catch (IllegalArgumentException e) {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION, "invalid hexadecimal data: \"" + text + "\"");
            }
        } else {
            bytes = unescaped(text.getBytes(StandardCharsets.UTF_8));
        }
        List<Byte> list = new ArrayList<>(bytes.length);
        for (byte b : bytes) {
            list.add(b);
        }
        return list;
    }

    /** {@code \\\\} is a backslash, {@code \\000} a byte in octal digits. */
    private static byte[] unescaped(byte[] escaped) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(escaped.length);
        for (int i = 0; i < escaped.length; i++) {
            int next = i + 1 < escaped.length ? escaped[i + 1] : 0;
            if (escaped[i] != '\\') {
                bytes.write(escaped[i]);
            } else if (next == '\\') {
                bytes.write(escaped[++i]);
            } else if (i + 3 < escaped.length
                    && new String(escaped, i + 1, 3, StandardCharsets.US_ASCII).matches("[0-3][0-7][0-7]")) {
                bytes.write(Integer.parseInt(new String(escaped, i + 1, 3, StandardCharsets.US_ASCII), 8));
                i += 3;
            } else {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
            }
        }
        return bytes.toByteArray();
    }

    /** The NUMERIC that a quoted number needs to keep its digits; empty for what is none, or beyond every NUMERIC. */
    public static Optional<DataType> digits(String text) {
        if (text.length() > LONGEST_NUMBER) {
            return Optional.empty(); // its parser says what is wrong
        }
        try {
            BigDecimal value = new BigDecimal(text.strip()).stripTrailingZeros();
            int scale = Math.max(0, value.scale());
            long whole = Math.max(0L, (long) value.precision() - value.scale());
            return whole + scale > DataType.MAX_NUMERIC_PRECISION
                    ? Optional.empty()
                    : Optional.of(DataType.numeric((int) Math.max(1, whole + scale), scale));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static boolean fitsNumeric(BigDecimal value) {
        long whole = Math.max(0, (long) value.precision() - value.scale());
        return whole + Math.max(0, value.scale()) <= DataType.MAX_NUMERIC_PRECISION;
    }

    /** As {@link #digits}, of all elements of an array's text, which is one of numbers. */
    public static List<DataType> digitsOfElements(String text) {
        List<DataType> digits = new ArrayList<>();
        addDigits(parse(DataType.array(DataType.TEXT), text).value(), digits);
        return digits;
    }

    private static void addDigits(Object element, List<DataType> digits) {
        if (element instanceof List<?> elements) {
            elements.forEach(inner -> addDigits(inner, digits));
        } else if (element instanceof String number) {
            digits(number).ifPresent(digits::add);
        }
    }

    /** A number's text as PostgreSQL's numeric reads it, with the digits that it has: NUMERIC as far as that holds them. */
    public static Literal number(String text) {
        if (!PlainNumeric.isUnlimited()) {
            try {
                return number(new BigDecimal(text.strip()));
            } catch (NumberFormatException e) {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "invalid input syntax for type numeric: \"" + text + "\"");
            }
        }
        Literal literal = parse(DataType.BIGNUM, text);
        Bignum number = (Bignum) literal.value();
        return number.isFinite() ? number(number.value()) : literal;
    }

    /** A number with the scale and precision that its digits ask for; beyond 38 digits BIGNUM, or 22003. */
    public static Literal number(BigDecimal value) {
        if (PlainNumeric.isUnlimited() && !fitsNumeric(value)) {
            return new Literal(Bignum.of(value), DataType.BIGNUM);
        }
        BigDecimal exact = value.scale() < 0 ? value.setScale(0) : value;
        if (exact.scale() > DataType.MAX_NUMERIC_PRECISION) {
            exact = exact.setScale(DataType.MAX_NUMERIC_PRECISION, RoundingMode.HALF_UP);
        }
        int precision = Math.max(exact.precision(), Math.max(1, exact.scale()));
        if (precision > DataType.MAX_NUMERIC_PRECISION) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    "numeric constant has " + precision + " digits; at most 38 are supported");
        }
        return new Literal(exact, DataType.numeric(precision, exact.scale()));
    }
}
