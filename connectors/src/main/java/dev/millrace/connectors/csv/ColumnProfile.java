package dev.millrace.connectors.csv;

import dev.millrace.text.TimestampFormat;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** What a sample says of one column: which readings its values allow. Takes no more memory the more values there are. Owned by one thread. */
final class ColumnProfile {
    private static final Set<String> NULL_WORDS = Set.of(
            "na",
            "n/a",
            "n.a.",
            "#n/a",
            "null",
            "none",
            "nil",
            "\\n",
            "missing",
            "no data",
            "nodata",
            "unavailable",
            "unknown",
            "undefined",
            "void",
            "invalid",
            "#null!",
            "#value!",
            "#div/0!",
            "-nan");
    private static final Pattern GROUPED = Pattern.compile("[-+]?\\d{1,3}(\\.\\d{3})+");
    private static final Pattern SIGNS = Pattern.compile("[-?*.#_/~!<>]{1,8}");
    private static final DataType WHOLE = DataType.numeric(38, 0);

    private final PossibleReading.Parsing parsing;
    private final List<PossibleReading> declared = new ArrayList<>();
    private final List<PossibleReading.Styled> styled = new ArrayList<>();
    private final List<PossibleReading> others; // that numbers have no part in
    private final PossibleReading odd = new PossibleReading.Nothing(); // values that are no numbers
    private final PossibleReading.Dates dayFirst = new PossibleReading.Dates(true);
    private final PossibleReading.Dates monthFirst = new PossibleReading.Dates(false);
    private final NumberExtremes extremes = new NumberExtremes();
    private long values;
    private long integers; // of SQL, as all numbers here
    private long wholes; // beyond bigint
    private long fractions;
    private long grouped; // of those, that may be whole numbers with points between groups of three digits

    /**
     * What a column is.
     *
     * @param nulls the values that mean nothing then
     */
    record Verdict(DataType type, Optional<String> format, Set<String> nulls) {}

    ColumnProfile(PossibleReading.Parsing parsing, List<PossibleReading> declared) {
        this.parsing = parsing;
        this.declared.addAll(declared);
        NumberStyle.OTHERS.forEach(style -> styled.add(new PossibleReading.Styled(style)));
        this.others = List.of(
                new PossibleReading.Plain(DataType.BOOLEAN),
                new PossibleReading.Plain(DataType.DATE),
                new PossibleReading.Plain(DataType.TIME),
                new PossibleReading.Plain(DataType.TIMESTAMP),
                new PossibleReading.Plain(DataType.TIMESTAMPTZ),
                new PossibleReading.PointedTime(),
                dayFirst,
                monthFirst);
    }

    /** A format that was given for times of a type. */
    static PossibleReading declared(DataType type, TimestampFormat format) {
        return new PossibleReading.Declared(type, format);
    }

    /** Rows that follow do not follow on those before. */
    void startFile() {
        others.forEach(PossibleReading::startFile);
    }

    /** A value that is not empty. */
    void add(String value) {
        values++;
        declared.forEach(reading -> reading.look(value, parsing));
        OptionalDouble number = parsing.number(value);
        if (number.isEmpty()) {
            odd.look(value, parsing);
            styled.forEach(reading -> reading.look(value, parsing));
            others.forEach(reading -> reading.look(value, parsing));
            return;
        }
        extremes.add(number.getAsDouble(), value);
        if (parsing.is(DataType.BIGINT, value)) {
            integers++;
        } else if (value.chars().allMatch(c -> c >= '0' && c <= '9' || c == '-') && parsing.is(WHOLE, value)) {
            wholes++;
        } else {
            fractions++;
            grouped += GROUPED.matcher(value).matches() ? 1 : 0;
        }
    }

    private long numbers() {
        return integers + wholes + fractions;
    }

    long values() {
        return values;
    }

    /** Whether there are numbers with a point. */
    boolean hasFractions() {
        return fractions > 0;
    }

    /** Whether all numbers with a point may be whole ones, with points between groups of three digits. */
    boolean mayBeGroupedByPoints() {
        return fractions == grouped;
    }

    /** Whether it is a column of numbers of a style that has such as SQL does not have. */
    boolean isOf(NumberStyle style) {
        PossibleReading.Styled reading = styled(style);
        return reading.hits() > 0
                && !reading.isGivenUp()
                && reading.misses().stream().allMatch(ColumnProfile::isNullWord);
    }

    private PossibleReading.Styled styled(NumberStyle style) {
        return styled.stream()
                .filter(reading -> reading.style().equals(style))
                .findFirst()
                .orElseThrow();
    }

    /** The orders of day and month, where either reads all values: the first is that with the day first. */
    Optional<List<PossibleReading.Dates>> ambiguousDates() {
        boolean isOpen = dayFirst.hits() > 0
                && monthFirst.hits() == dayFirst.hits()
                && !dayFirst.separators().isEmpty()
                && !dayFirst.format().equals(monthFirst.format())
                && isRead(dayFirst, ColumnProfile::isNullWord)
                && isRead(monthFirst, ColumnProfile::isNullWord);
        return isOpen ? Optional.of(List.of(dayFirst, monthFirst)) : Optional.empty();
    }

    /** The order of day and month and the separators, where no other reads all values. */
    Optional<PossibleReading.Dates> certainDates() {
        boolean first = dayFirst.hits() > 0 && isRead(dayFirst, ColumnProfile::isNullWord);
        boolean second = monthFirst.hits() > 0 && isRead(monthFirst, ColumnProfile::isNullWord);
        return first == second ? Optional.empty() : Optional.of(first ? dayFirst : monthFirst);
    }

    /**
     * What the column is.
     *
     * @param style of its numbers
     * @param isDayFirst which order of day and month counts where both are possible
     * @param mayHaveNulls whether words such as NA and signs such as ? among other values mean nothing
     */
    Verdict verdict(NumberStyle style, Predicate<Set<String>> isDayFirst, boolean mayHaveNulls) {
        for (boolean withNulls : mayHaveNulls ? new boolean[] {false, true} : new boolean[] {false}) {
            Predicate<String> isNull = withNulls ? ColumnProfile::isNullWord : value -> false;
            for (PossibleReading reading : declared) {
                if (reading.hits() > 0
                        && !reading.isGivenUp()
                        && reading.misses().stream().allMatch(isNull)) {
                    return new Verdict(reading.type(), Optional.empty(), reading.misses());
                }
            }
            Optional<Verdict> number = number(style, isNull);
            if (number.isPresent()) {
                return number.get();
            }
            List<PossibleReading> ordered = new ArrayList<>(others);
            if (!isDayFirst.test(dayFirst.separators())) {
                ordered.remove(dayFirst);
                ordered.add(dayFirst); // behind the other
            }
            for (PossibleReading reading : ordered) {
                if (reading.hits() > 0 && isRead(reading, isNull)) {
                    return new Verdict(reading.type(), reading.format(), reading.misses());
                }
            }
        }
        return new Verdict(DataType.TEXT, Optional.empty(), Set.of());
    }

    private boolean isRead(PossibleReading reading, Predicate<String> isNull) {
        return numbers() == 0
                && !reading.isGivenUp()
                && reading.misses().stream().allMatch(isNull);
    }

    private Optional<Verdict> number(NumberStyle style, Predicate<String> isNull) {
        PossibleReading reading = others(style);
        boolean isRead = !reading.isGivenUp() && reading.misses().stream().allMatch(isNull);
        if (!isRead || numbers() + reading.hits() == 0) {
            return Optional.empty();
        }
        boolean hasFractions =
                fractions > 0 || reading.hits() > 0 && reading.type().equals(DataType.DOUBLE);
        DataType type = hasFractions ? DataType.DOUBLE : wholes > 0 ? WHOLE : DataType.BIGINT;
        return Optional.of(new Verdict(type, Optional.empty(), reading.misses()));
    }

    /** What reads numbers of a style that are none of SQL's own. */
    private PossibleReading others(NumberStyle style) {
        return style.equals(NumberStyle.PLAIN) ? odd : styled(style);
    }

    /** Its numbers, written in a style. */
    NumberExtremes extremes(NumberStyle style) {
        NumberExtremes all = new NumberExtremes();
        all.add(extremes);
        if (!style.equals(NumberStyle.PLAIN)) {
            all.add(styled(style).extremes());
        }
        return all;
    }

    /** A value for which a column of numbers is one of text, if there are few such. */
    Optional<String> spoiler(NumberStyle style) {
        PossibleReading reading = others(style);
        boolean isNearly = !reading.isGivenUp() && numbers() > 9 * reading.missed();
        return isNearly
                ? reading.misses().stream()
                        .filter(value -> !isNullWord(value))
                        .sorted()
                        .findFirst()
                : Optional.empty();
    }

    static boolean isNullWord(String value) {
        return NULL_WORDS.contains(value.toLowerCase(Locale.ROOT))
                || SIGNS.matcher(value).matches();
    }
}
