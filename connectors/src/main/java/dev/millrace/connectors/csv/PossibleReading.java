package dev.millrace.connectors.csv;

import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * One way in which the values of a column may be read, and which of them it cannot read: a few, or it is given up. Owned by one thread.
 */
abstract class PossibleReading {
    private static final int MOST_MISSES = 24;

    private final Set<String> misses = new HashSet<>();
    private long missed;
    private long hits;
    private String lastHit = ""; // values often come several times on end

    /** Whether it can read a value, which is not empty. */
    abstract boolean reads(String value, Parsing parsing);

    /** The type of a column that is so read. */
    abstract DataType type();

    /** How its times are written, where it is not SQL's own form. */
    Optional<String> format() {
        return Optional.empty();
    }

    final void look(String value, Parsing parsing) {
        if (isGivenUp()) {
            return;
        }
        if (value.equals(lastHit)) {
            hits++;
        } else if (!misses.contains(value) && reads(value, parsing)) {
            hits++;
            lastHit = value;
        } else {
            missed++;
            misses.add(value);
        }
    }

    /** The values before another file count as those of one that follows on. */
    void startFile() {}

    boolean isGivenUp() {
        return misses.size() > MOST_MISSES;
    }

    final long hits() {
        return hits;
    }

    /** How many of the values it could not read. */
    final long missed() {
        return missed;
    }

    final Set<String> misses() {
        return misses;
    }

    /** Parses texts; owned by one thread. */
    static final class Parsing {
        private final ValueParser parser = new ValueParser();
        private final TextBuffer text;
        private final Map<String, TimestampFormat> formats = new HashMap<>();

        Parsing(TextBuffer text) {
            this.text = text;
        }

        boolean is(DataType type, String value) {
            int length = put(value);
            return parser.tryParse(type, text.address(), length);
        }

        private int put(String value) {
            text.clear();
            text.append(value.getBytes(StandardCharsets.UTF_8));
            return (int) text.length();
        }

        OptionalDouble number(String value) {
            int length = put(value);
            return parser.tryFloat8(text.address(), length)
                    ? OptionalDouble.of(Double.longBitsToDouble(parser.value()))
                    : OptionalDouble.empty();
        }

        boolean isTime(String format, String value) {
            int length = put(value);
            return parser.tryTimestamp(
                    formats.computeIfAbsent(format, TimestampFormat::compile), text.address(), length);
        }

        /** Of the last time that was one. */
        long micros() {
            return parser.value();
        }
    }

    /** Reads nothing: all is missed. */
    static final class Nothing extends PossibleReading {
        @Override
        boolean reads(String value, Parsing parsing) {
            return false;
        }

        @Override
        DataType type() {
            return DataType.BIGINT;
        }
    }

    /** As SQL writes a value of the type. */
    static final class Plain extends PossibleReading {
        private final DataType type;

        Plain(DataType type) {
            this.type = type;
        }

        @Override
        boolean reads(String value, Parsing parsing) {
            return switch (type.kind()) {
                case BOOLEAN -> value.length() >= 4 && parsing.is(type, value); // single letters are more likely codes
                case TIME -> isHourFirst(value) && parsing.is(type, value);
                case DATE -> isYearFirst(value) && value.length() <= 11 && parsing.is(type, value); // no time behind it
                case TIMESTAMP -> isYearFirst(value) && !hasZone(value) && parsing.is(type, value);
                case TIMESTAMPTZ -> isYearFirst(value) && parsing.is(type, value);
                default -> parsing.is(type, value);
            };
        }

        /** Other dates are read, too, but in an order of day and month that nobody said. */
        static boolean isYearFirst(String value) {
            int digits = 0;
            while (digits < value.length() && Character.isDigit(value.charAt(digits))) {
                digits++;
            }
            if (digits < 4 || digits == value.length()) {
                return false;
            }
            return value.charAt(digits) == '-'
                    ? isPartBefore(value, digits + 1)
                    : digits == 8 && value.charAt(digits) == 'T';
        }

        /** Whether letters or digits are at a place, and a separator behind them: 2010-236 is more likely a number of something. */
        private static boolean isPartBefore(String value, int from) {
            int at = from;
            while (at < value.length() && Character.isLetterOrDigit(value.charAt(at))) {
                at++;
            }
            return at > from && at < value.length() && value.charAt(at) == '-';
        }

        private static boolean isHourFirst(String value) {
            int colon = value.indexOf(':');
            return (colon == 1 || colon == 2) && Character.isDigit(value.charAt(0));
        }

        private static boolean hasZone(String value) {
            char last = Character.toLowerCase(value.charAt(value.length() - 1));
            String end = value.substring(Math.max(0, value.length() - 6));
            boolean isSigned = value.length() > 16 && (end.contains("+") || end.contains("-"));
            return isSigned || last == 'z' || last == 'c' || last == 't';
        }

        @Override
        DataType type() {
            return type;
        }
    }

    /** By a format that was given. */
    static final class Declared extends PossibleReading {
        private final DataType type;
        private final TimestampFormat format;

        Declared(DataType type, TimestampFormat format) {
            this.type = type;
            this.format = format;
        }

        @Override
        boolean reads(String value, Parsing parsing) {
            return parsing.isTime(format.toString(), value);
        }

        @Override
        DataType type() {
            return type;
        }
    }

    /** As numbers of a style, where they are none of SQL's own. */
    static final class Styled extends PossibleReading {
        private final NumberStyle style;
        private final NumberExtremes extremes = new NumberExtremes();
        private boolean hasFractions;

        Styled(NumberStyle style) {
            this.style = style;
        }

        NumberStyle style() {
            return style;
        }

        NumberExtremes extremes() {
            return extremes;
        }

        @Override
        boolean reads(String value, Parsing parsing) {
            Optional<String> plain = style.plain(value);
            OptionalDouble number = plain.map(parsing::number).orElse(OptionalDouble.empty());
            number.ifPresent(found -> {
                extremes.add(found, value);
                hasFractions |= plain.get().indexOf('.') >= 0 || !parsing.is(DataType.BIGINT, plain.get());
            });
            return number.isPresent();
        }

        @Override
        DataType type() {
            return hasFractions ? DataType.DOUBLE : DataType.BIGINT;
        }
    }

    /** As times of the day with points between. */
    static final class PointedTime extends PossibleReading {
        private static final String FORMAT = "HH24.MI.SS";

        @Override
        boolean reads(String value, Parsing parsing) {
            return value.matches("\\d{1,2}\\.\\d{2}\\.\\d{2}") && parsing.isTime(FORMAT, value);
        }

        @Override
        DataType type() {
            return DataType.TIME;
        }

        @Override
        Optional<String> format() {
            return Optional.of(FORMAT);
        }
    }

    /** As dates in one order of day and month, perhaps with times; SQL's own form may be among them. */
    static final class Dates extends PossibleReading {
        private static final int MOST_FORMATS = 4;
        private static final String ISO = "iso";

        private final boolean dayFirst;
        private final Set<String> formats = new LinkedHashSet<>();
        private final Set<String> separators = new HashSet<>();
        private boolean hasTime;
        private boolean hasZone;
        private boolean begun;
        private long last;
        private long decreases;
        private double travelled;

        Dates(boolean dayFirst) {
            this.dayFirst = dayFirst;
        }

        @Override
        boolean reads(String value, Parsing parsing) {
            Optional<DateShape> shape = DateShape.of(value);
            String format =
                    shape.map(it -> dayFirst ? it.dayFirst() : it.monthFirst()).orElse(ISO);
            boolean isIso = Plain.isYearFirst(value) && parsing.is(DataType.TIMESTAMPTZ, value);
            if (isIso) {
                format = ISO;
            } else if (shape.isEmpty()) {
                return false;
            }
            if (!parsing.isTime(format, value)) {
                return false;
            }
            long micros = parsing.micros();
            formats.add(format);
            shape.flatMap(DateShape::separator).ifPresent(separators::add);
            hasTime |= shape.map(DateShape::hasTime).orElse(value.length() > 11);
            hasZone |= shape.map(DateShape::hasZone).orElse(false);
            if (begun) {
                decreases += micros < last ? 1 : 0;
                travelled += Math.abs((double) micros - last);
            }
            begun = true;
            last = micros;
            return true;
        }

        @Override
        void startFile() {
            begun = false;
        }

        @Override
        boolean isGivenUp() {
            return super.isGivenUp() || formats.size() > MOST_FORMATS;
        }

        @Override
        DataType type() {
            return hasZone ? DataType.TIMESTAMPTZ : hasTime ? DataType.TIMESTAMP : DataType.DATE;
        }

        @Override
        Optional<String> format() {
            return Optional.of(String.join("|", formats));
        }

        boolean isDayFirst() {
            return dayFirst;
        }

        /** What stands between day, month and year, where their order is not seen of each date. */
        Set<String> separators() {
            return separators;
        }

        /** Whether the rows' order speaks for this order of day and month: in the other the dates go back and forth. */
        boolean isSmootherThan(Dates other) {
            return decreases < other.decreases || decreases == other.decreases && travelled * 2 < other.travelled;
        }
    }
}
