package dev.millrace.text;

import java.util.Optional;

/**
 * How a session reads and writes dates, times and intervals, and writes what else it may choose the form of.
 *
 * @param zone of instants, as {@link TimeZones} knows it; empty for UTC
 */
public record TimeStyle(Optional<String> zone, DateStyle dates, IntervalStyle intervals, Outputs outputs) {
    /** How intervals are written: PostgreSQL's setting of this name, whose values these are in small letters. */
    public enum IntervalStyle {
        /** {@code 1 year 2 mons -3 days +04:05:06}. */
        POSTGRES,
        /** {@code @ 1 year 2 mons -3 days 4 hours 5 mins 6 secs}. */
        POSTGRES_VERBOSE,
        /** {@code +1-2 -3 +4:05:06}; where all is of one sign, and months alone or none, shorter. */
        SQL_STANDARD,
        /** {@code P1Y2M-3DT4H5M6S}. */
        ISO_8601
    }

    /**
     * How bytes and floating-point numbers are written: PostgreSQL's settings {@code bytea_output} and {@code extra_float_digits}.
     *
     * @param escapesBytes whether bytes are written as characters with escapes ({@code abc\000}), and not in hexadecimal digits
     * @param floatDigits 1 for the shortest digits that read back as the same number; 0 and less for that many more than 15 digits, or 6 of REAL, to
     *     which a number is rounded
     */
    public record Outputs(boolean escapesBytes, int floatDigits) {
        public static final Outputs PLAIN = new Outputs(false, 1);

        private static final int DOUBLE_DIGITS = 15;
        private static final int REAL_DIGITS = 6;

        public Outputs {
            floatDigits = Math.min(1, floatDigits); // beyond 0 all are the same
        }

        boolean rounds() {
            return floatDigits < 1;
        }

        /** The digits that a DOUBLE is rounded to. */
        int doubleDigits() {
            return Math.max(1, DOUBLE_DIGITS + floatDigits);
        }

        /** The digits that a REAL is rounded to. */
        int realDigits() {
            return Math.max(1, REAL_DIGITS + floatDigits);
        }
    }

    /** In UTC, and as it is where no settings say more. */
    public static final TimeStyle PLAIN = new TimeStyle(Optional.empty(), DateStyle.ISO_MDY, IntervalStyle.POSTGRES);

    private static final char BETWEEN = ';'; // in no zone's name

    /** With outputs as they are where no settings say more. */
    public TimeStyle(Optional<String> zone, DateStyle dates, IntervalStyle intervals) {
        this(zone, dates, intervals, Outputs.PLAIN);
    }

    /** Nothing but a zone; empty for UTC. */
    public static TimeStyle in(Optional<String> zone) {
        return zone.isEmpty() ? PLAIN : new TimeStyle(zone, DateStyle.ISO_MDY, IntervalStyle.POSTGRES);
    }

    /** Clocks of the zone, new ones; empty for UTC. */
    public Optional<ZoneClock> clock() {
        return zone.flatMap(TimeZones::find).map(ZoneClock::new);
    }

    /** The same, but that months come before days. */
    public TimeStyle monthsFirst() {
        return new TimeStyle(zone, new DateStyle(dates.form(), DateStyle.Order.MDY), intervals, outputs);
    }

    /** Whether texts are read as they are where no settings say more. */
    public boolean readsPlainly() {
        return zone.isEmpty() && dates.order() == DateStyle.Order.MDY;
    }

    /** The text that {@link #parse} reads, by which functions are told of it, but for outputs: a zone's name alone where no more is to be said. */
    public String text() {
        String name = zone.orElse("UTC");
        boolean isPlain = dates.equals(DateStyle.ISO_MDY) && intervals == IntervalStyle.POSTGRES;
        return isPlain ? name : name + BETWEEN + dates + BETWEEN + intervals.name();
    }

    /** @return empty for what {@link #text} has not written and is no name of a zone */
    public static Optional<TimeStyle> parse(String text) {
        int end = text.indexOf(BETWEEN);
        String name = end < 0 ? text : text.substring(0, end);
        if (TimeZones.find(name).isEmpty()) {
            return Optional.empty();
        }
        TimeStyle plain = in(Optional.of(name).filter(zone -> !zone.equals("UTC")));
        if (end < 0) {
            return Optional.of(plain);
        }
        int second = text.indexOf(BETWEEN, end + 1);
        return second < 0
                ? Optional.empty()
                : DateStyle.ISO_MDY
                        .with(text.substring(end + 1, second))
                        .flatMap(dates -> intervals(text.substring(second + 1))
                                .map(intervals -> new TimeStyle(plain.zone, dates, intervals)));
    }

    private static Optional<IntervalStyle> intervals(String name) {
        for (IntervalStyle style : IntervalStyle.values()) {
            if (style.name().equals(name)) {
                return Optional.of(style);
            }
        }
        return Optional.empty();
    }
}
