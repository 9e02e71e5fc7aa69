package dev.millrace.connectors.csv;

import dev.millrace.connector.Options;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds out how files of separated values are written, from the beginnings of some: what stands between fields and around them, what is
 * before the first record, and whether that names the columns. What options say is not looked for.
 *
 * <p>A delimiter is judged by how many records have as many fields as most have, and by how many of these look like values: so a decimal
 * comma in each line does not win over a semicolon, as what it leaves are no numbers and dates.
 */
final class CsvSniffer {
    private static final List<String> DELIMITERS = List.of(",", ";", "tab", "|", "space");
    private static final int JUDGED_FILES = 16;
    private static final int JUDGED_RECORDS = 100;
    private static final int MOST_TITLES = 10;
    private static final int MOST_UNITS = 3;
    private static final double LEAST_AGREEMENT = 0.6;
    private static final double LEAST_VALUES_IN_PROSE = 0.4;
    private static final double LOOKS_WEIGHT = 0.5;

    private final Options options;
    private final String path;
    private final Map<String, String> assumed = new LinkedHashMap<>();
    private final PossibleReading.Parsing parsing;

    /**
     * What is at the beginning of a file.
     *
     * @param line of the header or first record, from 1
     * @param first the fields of that
     * @param header whether they are names
     * @param units how many lines behind the header are no records, as those of units
     * @param recordLine of the first record
     * @param fields that a record has
     * @param isTrailed whether records have one more delimiter than the header
     * @param hasComments whether lines of the preamble or between records begin with #
     */
    record Beginning(
            CsvSample sample,
            long line,
            List<String> first,
            boolean header,
            int units,
            long recordLine,
            int fields,
            boolean isTrailed,
            boolean hasComments) {}

    CsvSniffer(Options options, String path, PossibleReading.Parsing parsing) {
        this.options = options;
        this.path = path;
        this.parsing = parsing;
    }

    /** What was found that is not the default, by option. */
    Map<String, String> assumed() {
        return assumed;
    }

    void assume(String option, String value) {
        if (options.text(option).isEmpty()) {
            assumed.put(option, value);
        }
    }

    /** As options say and as was found so far. */
    CsvDialect dialect() {
        return CsvOptions.read(options.and(assumed), path).dialect();
    }

    /** Finds it out. */
    List<Beginning> sniff(List<CsvSample> samples) {
        List<CsvSample> judged = spread(samples, JUDGED_FILES);
        if (options.text("delimiter").isEmpty()) {
            delimiter(judged);
        }
        if (options.text("quote").isEmpty()) {
            quote(judged);
        }
        List<Beginning> beginnings = beginnings(samples);
        boolean isSettled = options.text("skip_lines").isPresent()
                || options.text("comment").isPresent();
        if (!isSettled && preamble(beginnings)) {
            beginnings = beginnings(samples);
        }
        header(beginnings);
        Set<Integer> units = beginnings.stream()
                .filter(Beginning::header)
                .map(Beginning::units)
                .collect(Collectors.toSet());
        if (units.size() == 1 && !units.contains(0)) {
            assume("skip_after_header", String.valueOf(units.iterator().next()));
        }
        if (beginnings.stream().anyMatch(Beginning::isTrailed)) {
            assume("ignore_extra", "true");
        }
        return beginnings;
    }

    /** So many of a list, its first and its last among them. */
    static <T> List<T> spread(List<T> all, int most) {
        if (all.size() <= most) {
            return all;
        }
        List<T> some = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            some.add(all.get((int) ((long) i * (all.size() - 1) / (most - 1))));
        }
        return some;
    }

    private void delimiter(List<CsvSample> samples) {
        byte usual = dialect().delimiter();
        String best = "";
        double most = 0;
        for (String delimiter : DELIMITERS) {
            CsvDialect dialect = CsvOptions.read(options.and(Map.of("delimiter", delimiter)), path)
                    .dialect();
            double score = 0;
            for (CsvSample sample : samples) {
                score += score(sample.beginning(dialect, JUDGED_RECORDS), delimiter.equals("space"));
            }
            if (score > most + 1e-9) {
                most = score;
                best = delimiter;
            }
        }
        boolean isUsual = best.isEmpty()
                || CsvOptions.read(options.and(Map.of("delimiter", best)), path)
                                .dialect()
                                .delimiter()
                        == usual;
        if (!isUsual) {
            assumed.put("delimiter", best);
        }
    }

    /** @param isProse whether the delimiter is also one of words, so that little but values has to be between */
    private double score(List<CsvSample.Line> lines, boolean isProse) {
        int fields = usualFields(lines);
        List<CsvSample.Line> usual =
                lines.stream().filter(line -> line.fields().size() == fields).toList();
        double agreement = (double) usual.size() / Math.max(1, lines.size());
        if (fields < 2 || agreement < LEAST_AGREEMENT) {
            return 0;
        }
        long cells = 0;
        long values = 0;
        for (CsvSample.Line line : usual.subList(usual.size() > 1 ? 1 : 0, usual.size())) {
            for (String cell : line.fields()) {
                String value = cell.trim();
                cells += value.isEmpty() ? 0 : 1;
                values += looksLikeValue(value) ? 1 : 0;
            }
        }
        double looks = (double) values / Math.max(1, cells);
        return isProse && looks < LEAST_VALUES_IN_PROSE ? 0 : agreement + LOOKS_WEIGHT * looks;
    }

    /** How many fields most records have. */
    private static int usualFields(List<CsvSample.Line> lines) {
        Map<Integer, Integer> counts = new HashMap<>();
        lines.forEach(line -> counts.merge(line.fields().size(), 1, Integer::sum));
        return counts.entrySet().stream()
                .max(Map.Entry.<Integer, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(0);
    }

    private boolean looksLikeValue(String value) {
        if (value.isEmpty()) {
            return false;
        }
        if (parsing.number(value).isPresent()) {
            return true;
        }
        if ("+-.0123456789".indexOf(value.charAt(0)) < 0) {
            return value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false");
        }
        return DateShape.of(value).isPresent()
                || NumberStyle.OTHERS.stream()
                        .anyMatch(style -> style.plain(value).isPresent())
                || !typeOf(profile(List.of(value))).equals(DataType.TEXT);
    }

    private ColumnProfile profile(List<String> values) {
        ColumnProfile profile = new ColumnProfile(parsing, List.of());
        values.forEach(profile::add);
        return profile;
    }

    private static DataType typeOf(ColumnProfile profile) {
        return profile.verdict(NumberStyle.PLAIN, separators -> true, true).type();
    }

    /** Whether fields are between ' rather than ". */
    private void quote(List<CsvSample> samples) {
        long quoted = 0;
        CsvDialect dialect = dialect();
        for (CsvSample sample : samples) {
            for (CsvSample.Line line : sample.beginning(dialect, JUDGED_RECORDS)) {
                if (line.split().quoted().contains(true)) {
                    return;
                }
                quoted += line.fields().stream()
                        .filter(cell -> cell.length() > 1 && cell.startsWith("'") && cell.endsWith("'"))
                        .count();
            }
        }
        if (quoted > 1) {
            assumed.put("quote", "'");
        }
    }

    private List<Beginning> beginnings(List<CsvSample> samples) {
        CsvDialect dialect = dialect();
        List<Beginning> beginnings = new ArrayList<>();
        for (CsvSample sample : samples) {
            List<CsvSample.Line> lines = sample.beginning(dialect, JUDGED_RECORDS);
            if (!lines.isEmpty()) {
                beginnings.add(beginning(sample, lines, dialect));
            }
        }
        return beginnings;
    }

    private Beginning beginning(CsvSample sample, List<CsvSample.Line> lines, CsvDialect dialect) {
        int fields = usualFields(lines);
        int first = 0;
        while (first < lines.size() && lines.get(first).fields().size() != fields) {
            first++;
        }
        boolean isTrailed = first > 0
                && lines.get(first - 1).fields().size() == fields - 1
                && lines.subList(first, lines.size()).stream()
                        .filter(line -> line.fields().size() == fields)
                        .allMatch(line -> line.fields().get(fields - 1).isBlank());
        if (isTrailed) {
            first--;
        }
        if (first > lines.size() / 2 || lines.get(first).number() > CsvLayout.MOST_PREAMBLE_LINES || fields < 2) {
            first = 0;
        }
        first = behindTitles(lines, first, fields);
        boolean hasComments = lines.stream()
                .skip(first == 0 ? 1 : 0)
                .anyMatch(line ->
                        line.fields().get(0).startsWith("#") && line.fields().size() != fields);
        List<CsvSample.Line> rest = lines.subList(first, lines.size());
        boolean header = switch (dialect.header()) {
            case TRUE -> true;
            case FALSE -> false;
            case AUTO -> isHeader(rest);
        };
        boolean isSaid = options.text("skip_after_header").isPresent();
        int units = !header ? 0 : isSaid ? dialect.skipAfterHeader() : units(rest);
        int record = header ? 1 + units : 0;
        long line = rest.get(0).number();
        long recordLine = record < rest.size() ? rest.get(record).number() : Long.MAX_VALUE;
        return new Beginning(
                sample,
                line,
                rest.get(0).fields(),
                header,
                units == 0 ? 0 : (int) (recordLine - line - 1), // with empty ones
                recordLine,
                isTrailed ? fields - 1 : fields,
                isTrailed,
                hasComments);
    }

    /** Where the header is, if lines before it have as many delimiters, and hardly anything between them. */
    private int behindTitles(List<CsvSample.Line> lines, int first, int fields) {
        int at = first;
        while (at < lines.size() && at < first + MOST_TITLES && 2 * filled(lines.get(at)) <= fields) {
            at++;
        }
        boolean isHeader = at > first
                && at < lines.size()
                && filled(lines.get(at)) == fields
                && lines.get(at).fields().stream().noneMatch(cell -> looksLikeValue(cell.trim()))
                && isHeader(lines.subList(at, lines.size()));
        return isHeader ? at : first;
    }

    private static long filled(CsvSample.Line line) {
        return line.fields().stream().filter(cell -> !cell.isBlank()).count();
    }

    /** How many records behind the header have words where those behind them have values: units, or how values were made. */
    private int units(List<CsvSample.Line> lines) {
        int units = 0;
        while (units < MOST_UNITS && units + 2 < lines.size() && isOfUnits(lines, units + 1)) {
            units++;
        }
        return units;
    }

    private boolean isOfUnits(List<CsvSample.Line> lines, int at) {
        List<String> fields = lines.get(at).fields();
        int words = 0;
        int strange = 0;
        for (int i = 0; i < fields.size(); i++) {
            String cell = fields.get(i).trim();
            if (cell.isEmpty() || ColumnProfile.isNullWord(cell)) {
                continue;
            }
            if (looksLikeValue(cell)) {
                return false;
            }
            words++;
            int field = i;
            List<String> others =
                    lines.subList(Math.min(lines.size(), at + MOST_UNITS), Math.min(lines.size(), at + 20)).stream()
                            .filter(line -> field < line.fields().size())
                            .map(line -> line.fields().get(field).trim())
                            .filter(value -> !value.isEmpty() && !ColumnProfile.isNullWord(value))
                            .toList();
            strange += !others.isEmpty() && others.stream().allMatch(this::looksLikeValue) ? 1 : 0;
        }
        return strange > 0 && 2 * strange >= words;
    }

    /** Whether the first record names the columns: none of its fields looks like a value, or none is one where the others are. */
    private boolean isHeader(List<CsvSample.Line> lines) {
        List<String> first = lines.get(0).fields();
        if (first.stream().allMatch(String::isBlank)) {
            return false;
        }
        if (first.stream().noneMatch(cell -> looksLikeValue(cell.trim()) || ColumnProfile.isNullWord(cell.trim()))) {
            return true;
        }
        int strange = 0;
        for (int i = 0; i < first.size(); i++) {
            String cell = first.get(i).trim();
            int field = i;
            ColumnProfile profile = profile(lines.stream()
                    .skip(1)
                    .filter(line -> field < line.fields().size())
                    .map(line -> line.fields().get(field).trim())
                    .filter(value -> !value.isEmpty())
                    .toList());
            boolean isTyped = profile.values() > 0
                    && (!typeOf(profile).equals(DataType.TEXT)
                            || NumberStyle.OTHERS.stream().anyMatch(profile::isOf));
            if (isTyped && !cell.isEmpty() && !ColumnProfile.isNullWord(cell)) {
                if (looksLikeValue(cell)) {
                    return false;
                }
                strange++;
            }
        }
        return strange > 0;
    }

    /** Settles comments, or lines to be skipped; whether records are others now. */
    private boolean preamble(List<Beginning> beginnings) {
        if (beginnings.stream().anyMatch(Beginning::hasComments)) {
            assume("comment", "#");
            return true;
        }
        Set<Long> lines = beginnings.stream().map(Beginning::line).collect(Collectors.toSet());
        if (lines.size() > 1 && beginnings.stream().anyMatch(Beginning::header)) {
            assume("skip_lines", "auto");
        } else if (lines.size() == 1 && !lines.contains(1L)) {
            assume("skip_lines", String.valueOf(lines.iterator().next() - 1));
        }
        return false;
    }

    /** Settles whether files have headers, if all or none have one. */
    private void header(List<Beginning> beginnings) {
        if (dialect().header() != CsvDialect.Header.AUTO || beginnings.isEmpty()) {
            return;
        }
        Set<Boolean> found = new HashSet<>();
        beginnings.forEach(beginning -> found.add(beginning.header()));
        if (found.size() == 1) {
            assume("header", String.valueOf(found.iterator().next()));
        }
    }
}
