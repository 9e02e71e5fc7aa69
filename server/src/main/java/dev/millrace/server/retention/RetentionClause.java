package dev.millrace.server.retention;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.server.sketched.SketchClause;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.storage.retention.RetentionAge;
import dev.millrace.storage.retention.RetentionPolicy;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long a stream keeps its rows, and how, as its options say.
 *
 * @param sketch how old ones are sketched; empty where all are exact
 */
public record RetentionClause(RetentionPolicy policy, Optional<SketchClause> sketch) {
    private static final Pattern SIZE = Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?)\\s*(kb|mb|gb|tb)");
    private static final Pattern DURATION = Pattern.compile(
            "[0-9.]+\\s*(us|microseconds?|ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)");
    private static final long MICROS_OF_DAY = 86_400_000_000L;
    private static final String UNITS = "kbmbgbtb";
    private static final String EXPECTED =
            "none, forever, an age such as 30 days or 1 year 6 months, a size such as 10 GB, or both: 30 days, 10 GB";

    /**
     * Reads {@code retention}, {@code retention.form} and {@code sketch.*}.
     *
     * @return empty for a stream that keeps nothing
     */
    public static Optional<RetentionClause> of(Options options) {
        Optional<String> retention =
                options.text("retention").map(text -> text.trim().toLowerCase(Locale.ROOT));
        String form = options.text("retention.form", retention.isPresent() ? "exact" : "none")
                .toLowerCase(Locale.ROOT);
        boolean isSketched = form.equals("sketch");
        if (!isSketched && !form.equals("exact") && !form.equals("none")) {
            throw Options.invalid("retention.form", form, "none, exact or sketch");
        }
        SketchClause.firstIn(options).filter(name -> !isSketched).ifPresent(name -> {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"" + name + "\" is about retention.form = 'sketch', and it is '" + form + "'")
                    .withHint("add retention.form = 'sketch', or leave the option out");
        });
        if (retention.isEmpty() && !form.equals("none")) {
            throw Options.invalid("retention.form", form, "with a retention, which is " + EXPECTED);
        }
        Optional<SketchClause> sketch = isSketched ? Optional.of(SketchClause.of(options)) : Optional.empty();
        if (retention.isEmpty() || form.equals("none") || retention.get().equals("none")) {
            return Optional.empty();
        }
        return Optional.of(new RetentionClause(policy(retention.get()), sketch));
    }

    private static RetentionPolicy policy(String text) {
        if (text.equals("forever")) {
            return RetentionPolicy.FOREVER;
        }
        Optional<RetentionAge> age = Optional.empty();
        OptionalLong bytes = OptionalLong.empty();
        for (String part : text.split(",", -1)) {
            OptionalLong size = bytes(part.trim());
            if (size.isPresent() ? bytes.isPresent() : age.isPresent()) {
                throw Options.invalid("retention", text, EXPECTED);
            } else if (size.isPresent()) {
                bytes = size;
            } else {
                age = Optional.of(age(part.trim(), text));
            }
        }
        if (bytes.orElse(1) <= 0) {
            throw Options.invalid("retention", text, EXPECTED);
        }
        return new RetentionPolicy(age, false, bytes);
    }

    /** A duration as other options have them, or an interval as PostgreSQL writes it: months and years are those of the calendar. */
    private static RetentionAge age(String age, String text) {
        try {
            if (!age.matches(".*[a-z].*")) { // in an interval a number alone is of seconds
                throw new IllegalArgumentException("an age has a unit");
            }
            return DURATION.matcher(age).matches()
                    ? new RetentionAge(0, new Options(Map.of("retention", age)).durationMicros("retention", 0))
                    : age((IntervalValue) Literals.parse(DataType.INTERVAL, age).value());
        } catch (MillraceException | IllegalArgumentException | ArithmeticException e) {
            throw Options.invalid("retention", text, EXPECTED);
        }
    }

    private static RetentionAge age(IntervalValue interval) {
        long micros = Math.addExact(Math.multiplyExact(interval.days(), MICROS_OF_DAY), interval.micros());
        return new RetentionAge(Math.toIntExact(interval.months()), micros);
    }

    private static OptionalLong bytes(String text) {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        int power = UNITS.indexOf(matcher.group(2)) / 2 + 1;
        BigDecimal bytes = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(1L << 10 * power));
        return OptionalLong.of(bytes.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue());
    }
}
