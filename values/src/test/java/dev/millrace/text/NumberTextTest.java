package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class NumberTextTest {
    private final Texts texts = new Texts();
    private final long seed = Long.getLong("seed", 1);
    private final Random random = new Random(seed);

    @AfterEach
    void close() {
        texts.close();
    }

    @Test
    void integersReadAsJdkReadsThem() {
        long[] edges = {0, 1, -1, 9, 10, Short.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE};
        for (int i = 0; i < 100_000; i++) {
            long value = i < edges.length ? edges[i] : random.nextLong() >> random.nextInt(64);
            String text = random.nextInt(10) == 0 ? " " + value + "\t" : Long.toString(value);
            assertEquals(value, texts.read(text, texts.parser::bigint), text);
            assertEquals(Long.toString(value), texts.write(out -> ValueWriter.integer(out, value)));
        }
        assertEquals(7, texts.read("+0000000000000000000000007", texts.parser::integer));
    }

    @Test
    void integersOutOfRangeAndMalformedSayWhatPostgresSays() {
        assertEquals("22P02 invalid input syntax for type integer: \"abc\"", texts.error(DataType.INTEGER, "abc"));
        assertEquals("22P02 invalid input syntax for type bigint: \"\"", texts.error(DataType.BIGINT, ""));
        assertEquals("22P02 invalid input syntax for type bigint: \"-\"", texts.error(DataType.BIGINT, "-"));
        assertEquals("22P02 invalid input syntax for type bigint: \"1.5\"", texts.error(DataType.BIGINT, "1.5"));
        assertEquals(
                "22003 value \"2147483648\" is out of range for type integer",
                texts.error(DataType.INTEGER, "2147483648"));
        assertEquals(
                "22003 value \"-32769\" is out of range for type smallint", texts.error(DataType.SMALLINT, "-32769"));
        assertEquals(
                "22003 value \"9223372036854775808\" is out of range for type bigint",
                texts.error(DataType.BIGINT, "9223372036854775808"));
        assertEquals("none", texts.error(DataType.BIGINT, "-9223372036854775808"));
        assertEquals(
                "22003 value \"-9223372036854775809\" is out of range for type bigint",
                texts.error(DataType.BIGINT, "-9223372036854775809"));
        assertEquals(
                "22003 value \"99999999999999999999\" is out of range for type bigint",
                texts.error(DataType.BIGINT, "99999999999999999999"));
    }

    @Test
    void doublesReadToTheLastBit() {
        for (int i = 0; i < 100_000; i++) {
            String text = randomNumber();
            double expected = Double.parseDouble(text);
            boolean inRange = !Double.isInfinite(expected) && (expected != 0 || new BigDecimal(text).signum() == 0);
            boolean read = texts.read(text, texts.parser::tryFloat8);
            assertEquals(inRange, read, text + ", seed " + seed);
            if (read) {
                assertEquals(
                        Double.doubleToRawLongBits(expected),
                        Double.doubleToRawLongBits(texts.parser.doubleValue()),
                        text + ", seed " + seed);
            }
            ValueParser fast = ValueParser.ofReadableBehind();
            assertEquals(inRange, texts.read(text, fast::tryFloat8), text + ", seed " + seed);
            if (inRange) {
                assertEquals(
                        Double.doubleToRawLongBits(expected),
                        Double.doubleToRawLongBits(fast.doubleValue()),
                        text + ", seed " + seed);
            }
            float expectedReal = Float.parseFloat(text);
            if (!Float.isInfinite(expectedReal) && (expectedReal != 0 || new BigDecimal(text).signum() == 0)) {
                assertEquals(expectedReal, texts.read(text, texts.parser::real), text + ", seed " + seed);
            }
        }
    }

    @Test
    void doublesHalfwayBetweenTwoReadToEven() {
        for (int i = 0; i < 5_000; i++) {
            double low = Double.longBitsToDouble(random.nextLong() & Long.MAX_VALUE);
            if (Double.isNaN(low) || Double.isInfinite(low) || low == Double.MAX_VALUE) {
                continue;
            }
            BigDecimal middle =
                    new BigDecimal(low).add(new BigDecimal(Math.nextUp(low))).divide(BigDecimal.valueOf(2));
            for (String text : new String[] {
                middle.toString(), middle.round(new java.math.MathContext(18)).toString()
            }) {
                double expected = Double.parseDouble(text);
                if (expected != 0) {
                    assertEquals(expected, texts.read(text, texts.parser::float8), text + ", seed " + seed);
                }
            }
        }
    }

    private String randomNumber() {
        StringBuilder text = new StringBuilder(random.nextBoolean() ? "-" : "");
        switch (random.nextInt(4)) {
            case 0 -> text.append(Math.abs(Double.longBitsToDouble(random.nextLong() & 0x7fdfffffffffffffL)));
            case 1 -> text.append(random.nextInt(100_000)).append('.').append(random.nextInt(10_000));
            case 2 -> {
                text.append(Math.abs(random.nextLong() / 10 >> random.nextInt(60)));
                text.append("e").append(random.nextInt(700) - 370);
            }
            default -> {
                int digits = 1 + random.nextInt(40);
                for (int i = 0; i < digits; i++) {
                    text.append((char) ('0' + random.nextInt(10)));
                }
                text.insert(text.length() - random.nextInt(digits), ".");
                if (random.nextBoolean()) {
                    text.append("E+").append(random.nextInt(30));
                }
            }
        }
        return text.toString();
    }

    @Test
    void doublesWriteTheFewestDigitsThatReadBack() {
        for (int i = 0; i < 75_000; i++) {
            double value = switch (random.nextInt(4)) {
                case 0 -> random.nextInt(1_000_000) / 100.0;
                case 1 -> random.nextDouble() * Math.pow(10, random.nextInt(40) - 20);
                case 2 -> Math.scalb(1.0, random.nextInt(2098) - 1074);
                default -> Double.longBitsToDouble(random.nextLong());
            };
            String text = texts.write(out -> ValueWriter.float8(out, value));
            double back = Double.parseDouble(text);
            assertEquals(value, back, text + ", seed " + seed);
            if (!Double.isNaN(value) && !Double.isInfinite(value) && value != 0) {
                assertShortest(new BigDecimal(value), new BigDecimal(text), value, text);
            }
        }
    }

    /** No decimal of one digit less reads back, and no other decimal of as many digits is nearer. */
    private void assertShortest(BigDecimal exact, BigDecimal written, double value, String text) {
        BigDecimal stripped = written.stripTrailingZeros();
        int digits = stripped.precision();
        BigDecimal error = exact.subtract(stripped).abs();
        for (RoundingMode mode : new RoundingMode[] {RoundingMode.DOWN, RoundingMode.UP}) {
            if (digits > 1) {
                BigDecimal shorter = exact.round(new java.math.MathContext(digits - 1, mode));
                boolean inside = shorter.doubleValue() == value && !isBound(shorter, value);
                assertTrue(!inside, () -> shorter + " is shorter than " + text + ", seed " + seed);
            }
            BigDecimal other = exact.round(new java.math.MathContext(digits, mode));
            assertTrue(
                    other.doubleValue() != value || exact.subtract(other).abs().compareTo(error) >= 0,
                    () -> other + " is nearer than " + text + ", seed " + seed);
        }
    }

    private static boolean isBound(BigDecimal decimal, double value) {
        BigDecimal twice = decimal.multiply(BigDecimal.valueOf(2));
        BigDecimal exact = new BigDecimal(value);
        return twice.compareTo(exact.add(new BigDecimal(Math.nextUp(value)))) == 0
                || twice.compareTo(exact.add(new BigDecimal(Math.nextDown(value)))) == 0;
    }

    @Test
    void floatsReadBack() {
        for (int i = 0; i < 75_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            String text = texts.write(out -> ValueWriter.real(out, value));
            assertEquals(value, Float.parseFloat(text), text + ", seed " + seed);
            if (!Float.isNaN(value) && !Float.isInfinite(value)) {
                BigDecimal jdk = new BigDecimal(Float.toString(value)).stripTrailingZeros();
                // The JDK since 19 takes a decimal in the very middle that rounds to even; PostgreSQL does not.
                BigDecimal distance = jdk.subtract(new BigDecimal(value)).abs().multiply(BigDecimal.valueOf(2));
                boolean middle = distance.compareTo(new BigDecimal(Math.ulp(value))) == 0;
                int digits = new BigDecimal(text).stripTrailingZeros().precision();
                assertTrue(middle || digits <= jdk.precision(), text + " is longer than " + jdk);
            }
        }
    }

    @Test
    void floatingPointTakesPostgresNotation() {
        Object[][] cases = {
            {0.1, "0.1"},
            {1e20, "1e+20"},
            {1e-7, "1e-07"},
            {1e15, "1e+15"},
            {123456789012345.0, "123456789012345"},
            {1234567890123456.0, "1.234567890123456e+15"},
            {0.0001, "0.0001"},
            {0.00001, "1e-05"},
            {-0.0, "-0"},
            {1.0, "1"},
            {2e22, "2e+22"},
            {2e-44, "2e-44"},
            {4.9e-324, "5e-324"},
            {1.7976931348623157e308, "1.7976931348623157e+308"},
            {Double.NaN, "NaN"},
            {Double.NEGATIVE_INFINITY, "-Infinity"},
            {100.0, "100"},
            {-1.5, "-1.5"},
            {0.30000000000000004, "0.30000000000000004"},
            {5e-5, "5e-05"},
            {9007199254740993.0, "9.007199254740992e+15"},
            {1e100, "1e+100"},
            {20.714039999999997, "20.714039999999997"}
        };
        for (Object[] pair : cases) {
            assertEquals(pair[1], texts.write(out -> ValueWriter.float8(out, (double) pair[0])));
        }
        assertEquals("1e+06", texts.write(out -> ValueWriter.real(out, 1e6f)));
        assertEquals("123456", texts.write(out -> ValueWriter.real(out, 123456f)));
        assertEquals("1.234567e+06", texts.write(out -> ValueWriter.real(out, 1234567f)));
        assertEquals("0.1", texts.write(out -> ValueWriter.real(out, 0.1f)));
        assertEquals("3.4028235e+38", texts.write(out -> ValueWriter.real(out, Float.MAX_VALUE)));
    }

    @Test
    void floatingPointWordsAndErrors() {
        assertEquals(Double.NaN, texts.read(" NaN ", texts.parser::float8));
        assertEquals(Double.NEGATIVE_INFINITY, texts.read("-inf", texts.parser::float8));
        assertEquals(Double.POSITIVE_INFINITY, texts.read("Infinity", texts.parser::float8));
        assertEquals(5.0, texts.read("5.", texts.parser::float8));
        assertEquals(0.5, texts.read(".5", texts.parser::float8));
        assertEquals(0.0, texts.read("0e999999", texts.parser::float8));
        assertEquals(
                "22P02 invalid input syntax for type double precision: \"1.2.3\"",
                texts.error(DataType.DOUBLE, "1.2.3"));
        assertEquals("22P02 invalid input syntax for type double precision: \".\"", texts.error(DataType.DOUBLE, "."));
        for (String text :
                new String[] {"", "-", ".", "-.", "1.2.3", "1,5", "x", "1x", "1.x", "--1", "1e", "12345678x"}) {
            assertEquals(false, (boolean) texts.read(text, ValueParser.ofReadableBehind()::tryFloat8), text);
        }
        assertEquals(
                "22P02 invalid input syntax for type double precision: \"1e\"", texts.error(DataType.DOUBLE, "1e"));
        assertEquals(
                "22003 \"1e400\" is out of range for type double precision", texts.error(DataType.DOUBLE, "1e400"));
        assertEquals(
                "22003 \"1e-400\" is out of range for type double precision", texts.error(DataType.DOUBLE, "1e-400"));
        assertEquals("22003 \"1e40\" is out of range for type real", texts.error(DataType.REAL, "1e40"));
        assertEquals("22P02 invalid input syntax for type real: \"x\"", texts.error(DataType.REAL, "x"));
    }

    @Test
    void numericsAgreeWithBigDecimal() {
        for (int i = 0; i < 50_000; i++) {
            int precision = 1 + random.nextInt(38);
            int scale = random.nextInt(precision + 1);
            BigDecimal value = new BigDecimal(new BigInteger(random.nextInt(128), random), random.nextInt(45) - 3);
            value = random.nextBoolean() ? value : value.negate();
            String text = random.nextInt(3) == 0 ? value.toString() : value.toPlainString();
            if (random.nextInt(20) == 0) {
                value = value.abs();
                text = "  000" + value.toPlainString() + " ";
            }
            BigDecimal rounded = value.setScale(scale, RoundingMode.HALF_UP);
            boolean fits = rounded.precision() <= precision || rounded.signum() == 0;
            boolean read =
                    texts.read(text, (address, length) -> texts.parser.tryNumeric(address, length, precision, scale));
            assertEquals(fits, read, text + " as numeric(" + precision + "," + scale + "), seed " + seed);
            if (read) {
                BigInteger unscaled = BigInteger.valueOf(texts.parser.high())
                        .shiftLeft(64)
                        .add(new BigInteger(Long.toUnsignedString(texts.parser.value())));
                assertEquals(rounded.unscaledValue(), unscaled, text + ", seed " + seed);
                long high = texts.parser.high();
                long low = texts.parser.value();
                assertEquals(rounded.toPlainString(), texts.write(out -> ValueWriter.numeric(out, high, low, scale)));
            }
        }
    }

    @Test
    void numericErrors() {
        assertEquals("22003 numeric field overflow", texts.error(DataType.numeric(4, 2), "99.995"));
        assertEquals("none", texts.error(DataType.numeric(4, 2), "99.994999"));
        assertEquals(
                "22P02 invalid input syntax for type numeric: \"1,5\"", texts.error(DataType.numeric(4, 2), "1,5"));
        assertEquals("22003 numeric field overflow", texts.error(DataType.numeric(38, 0), "1e38"));
        assertEquals("none", texts.error(DataType.numeric(38, 0), "0e100"));
        assertEquals("none", texts.error(DataType.numeric(2, 2), "1e-90000"));
    }
}
