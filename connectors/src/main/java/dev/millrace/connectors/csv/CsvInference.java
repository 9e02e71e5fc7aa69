package dev.millrace.connectors.csv;

import dev.millrace.connector.Options;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.GuessedColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.format.EncodedRecords;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Guesses columns of files, and how the files are written, from stretches of some of them: names from all headers in lower case ({@code
 * column1}, ... without one), types from the values, the narrowest of boolean, bigint, double precision, date, time, timestamp, timestamp
 * with time zone and text that reads all of them. What an option says is not guessed.
 *
 * <pre>
 *   samples -> encoding -> delimiter, quote, preamble, header (CsvSniffer) -> values by column (ColumnProfile)
 *           -> style of numbers -> order of day and month -> types, formats, words for NULL
 * </pre>
 */
public final class CsvInference {
    private static final int SAMPLE_BYTES = 4 << 20;
    private static final int LEAST_FILE_BYTES = 16 << 10;
    private static final int SAMPLED_FILES = SAMPLE_BYTES / LEAST_FILE_BYTES;
    private static final int HEAD_BYTES = 16 << 10;
    private static final int MOST_HEADS = 10_000;
    private static final int MOST_SAMPLED_RECORDS = 20_000; // that came by themselves

    private final List<Path> files;
    private final Options options;
    private final BufferAllocator allocator;
    private final PossibleReading.Parsing parsing;
    private final CsvSniffer sniffer;
    private final List<String> remarks = new ArrayList<>();
    private final Map<String, ColumnProfile> profiles = new LinkedHashMap<>(); // by column, in the order of columns
    private boolean isPadded; // a file has fewer fields than there are columns, and no header
    private boolean isUnion; // a header lacks a column

    private CsvInference(List<Path> files, Options options, String path, BufferAllocator allocator, TextBuffer text) {
        this.files = files;
        this.options = options;
        this.allocator = allocator;
        this.parsing = new PossibleReading.Parsing(text);
        this.sniffer = new CsvSniffer(options, path, parsing);
    }

    /**
     * What was guessed.
     *
     * @param schema without columns if the files have no records
     * @param assumed what is not as it is by default, by option
     * @param remarks what is to be known of it, in sentences
     */
    public record Inferred(Schema schema, Map<String, String> assumed, List<String> remarks) {}

    /**
     * Looks at files.
     *
     * @param path that was given for them, whose extension may say the delimiter
     * @throws MillraceException if none of them can be read
     */
    public static Inferred infer(List<Path> files, String path, Options options) {
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer text = new TextBuffer(allocator, 256)) {
            return new CsvInference(files, options, path, allocator, text).infer();
        }
    }

    /** Looks at the lines of some records, none of which names the columns. */
    static Schema infer(EncodedRecords records, CsvDialect dialect, Optional<TimestampFormat> timestampFormat) {
        List<RecordText.Split> lines = new ArrayList<>();
        for (int i = 0; i < records.count() && lines.size() <= MOST_SAMPLED_RECORDS; i++) {
            int at = records.isNull(i) ? records.to(i) : records.from(i);
            while (at < records.to(i)) {
                RecordText.Split line = RecordText.split(records.address(), at, records.to(i), dialect);
                lines.add(line);
                at = line.end();
            }
        }
        if (lines.isEmpty()) {
            return new Schema(List.of());
        }
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer text = new TextBuffer(allocator, 256)) {
            PossibleReading.Parsing parsing = new PossibleReading.Parsing(text);
            List<PossibleReading> declared = timestampFormat
                    .map(format -> List.of(ColumnProfile.declared(DataType.TIMESTAMP, format)))
                    .orElse(List.of());
            NumberStyle style = new NumberStyle(dialect.decimalComma(), dialect.thousands());
            List<Field> fields = new ArrayList<>();
            for (String name : names(Collections.nCopies(lines.get(0).fields().size(), ""))) {
                int field = fields.size();
                ColumnProfile profile = new ColumnProfile(parsing, declared);
                lines.forEach(line -> addValue(profile, line, field, dialect));
                ColumnProfile.Verdict verdict = profile.verdict(style, separators -> false, false);
                boolean isReadable = verdict.format().isEmpty(); // else an option has to say it
                fields.add(new Field(name, isReadable ? verdict.type() : DataType.TEXT, true));
            }
            return new Schema(fields);
        }
    }

    private Inferred infer() {
        List<CsvSample> samples = samples();
        try {
            encoding(samples);
            List<CsvSniffer.Beginning> beginnings = sniffer.sniff(samples);
            if (beginnings.isEmpty()) {
                return new Inferred(new Schema(List.of()), sniffer.assumed(), remarks);
            }
            columns(beginnings);
            beginnings.forEach(this::read);
            return new Inferred(decide(), sniffer.assumed(), remarks);
        } finally {
            samples.forEach(CsvSample::close);
        }
    }

    private List<CsvSample> samples() {
        List<Path> chosen = CsvSniffer.spread(files, SAMPLED_FILES);
        int bytes = Math.max(LEAST_FILE_BYTES, SAMPLE_BYTES / chosen.size());
        Encoding encoding = sniffer.dialect().encoding();
        List<CsvSample> samples = new ArrayList<>();
        Optional<MillraceException> first = Optional.empty();
        try {
            for (Path file : chosen) {
                try {
                    samples.add(CsvSample.read(file, encoding, bytes, allocator));
                } catch (MillraceException e) {
                    first = first.or(() -> Optional.of(e)); // reading it tells what is wrong with it
                }
            }
            if (samples.isEmpty()) {
                throw first.orElseThrow();
            }
            return samples;
        } catch (RuntimeException | Error e) {
            samples.forEach(CsvSample::close);
            throw e;
        }
    }

    /** Without a mark and without being told, bytes that are no UTF-8 are of one of the usual encodings of one byte. */
    private void encoding(List<CsvSample> samples) {
        if (options.text("encoding").isPresent()) {
            return;
        }
        List<CsvSample> others =
                samples.stream().filter(sample -> !sample.isUtf8()).toList();
        boolean isMixed = samples.stream()
                .anyMatch(sample -> sample.encoding() == Encoding.UTF_8 && !sample.isPlain() && sample.isUtf8());
        if (others.isEmpty()) {
            return;
        }
        if (isMixed) {
            remarks.add("file \"" + others.get(0).file()
                    + "\" is not UTF-8, as others are: its lines with other bytes are rejected");
            return;
        }
        boolean isWindows = others.stream().anyMatch(CsvSample::hasWindowsBytes);
        sniffer.assume("encoding", isWindows ? "windows-1252" : "latin-1");
        for (int i = 0; i < samples.size(); i++) {
            CsvSample old = samples.get(i);
            if (!old.isUtf8()) {
                int bytes = Math.max(LEAST_FILE_BYTES, SAMPLE_BYTES / samples.size());
                samples.set(i, CsvSample.read(old.file(), sniffer.dialect().encoding(), bytes, allocator));
                old.close();
            }
        }
    }

    /** All columns that headers name, of files that are not sampled, too; or as many as records have fields. */
    private void columns(List<CsvSniffer.Beginning> beginnings) {
        Set<String> all = new LinkedHashSet<>();
        List<List<String>> headers = new ArrayList<>();
        beginnings.stream()
                .filter(CsvSniffer.Beginning::header)
                .forEach(beginning -> headers.add(names(beginning.first())));
        if (!headers.isEmpty() && beginnings.size() < files.size()) {
            headers.addAll(furtherHeaders(beginnings));
        }
        headers.forEach(all::addAll);
        isUnion = headers.stream().anyMatch(header -> header.size() < all.size());
        int most = beginnings.stream()
                .filter(beginning -> !beginning.header())
                .mapToInt(CsvSniffer.Beginning::fields)
                .max()
                .orElse(0);
        isPadded = beginnings.stream()
                .anyMatch(beginning -> !beginning.header() && beginning.fields() < Math.max(most, all.size()));
        for (int i = all.size(); i < most; i++) {
            all.add("column" + (i + 1));
        }
        GuessedColumns.requireFew(all.size());
        for (String name : all) {
            profiles.put(name, new ColumnProfile(parsing, declared(name)));
        }
    }

    private List<List<String>> furtherHeaders(List<CsvSniffer.Beginning> beginnings) {
        Set<Path> known =
                beginnings.stream().map(beginning -> beginning.sample().file()).collect(Collectors.toSet());
        CsvDialect dialect = sniffer.dialect();
        List<List<String>> headers = new ArrayList<>();
        if (dialect.header() != CsvDialect.Header.TRUE) {
            return headers;
        }
        for (Path file : files) {
            if (known.contains(file) || headers.size() >= MOST_HEADS) {
                continue;
            }
            try (CsvSample head = CsvSample.read(file, dialect.encoding(), HEAD_BYTES, allocator)) {
                head.beginning(dialect, 1).forEach(line -> headers.add(names(line.fields())));
            } catch (MillraceException e) {
                // reading it tells what is wrong with it
            }
        }
        return headers;
    }

    private List<PossibleReading> declared(String column) {
        List<PossibleReading> declared = new ArrayList<>();
        Map<String, DataType> kinds = new LinkedHashMap<>();
        kinds.put("timestamp_format", DataType.TIMESTAMP);
        kinds.put("date_format", DataType.DATE);
        kinds.put("time_format", DataType.TIME);
        kinds.forEach((option, type) -> options.text(option + "." + column)
                .or(() -> options.text(option))
                .ifPresent(format -> declared.add(ColumnProfile.declared(type, TimestampFormat.compile(format)))));
        return declared;
    }

    private void read(CsvSniffer.Beginning beginning) {
        CsvDialect dialect = sniffer.dialect();
        List<String> names = beginning.header() ? names(beginning.first()) : List.copyOf(profiles.keySet());
        List<ColumnProfile> columns = names.stream().map(profiles::get).toList();
        CsvSample sample = beginning.sample();
        for (int stretch = 0; stretch < sample.stretches(); stretch++) {
            profiles.values().forEach(ColumnProfile::startFile);
            long first = stretch > 0 ? 0 : beginning.recordLine();
            sample.each(stretch, dialect, line -> {
                boolean isRecord = line.fields().size() <= columns.size()
                        || dialect.ignoreExtra() && line.fields().size() == columns.size() + 1;
                if (isRecord && line.number() >= first) {
                    for (int i = 0; i < columns.size(); i++) {
                        addValue(columns.get(i), line.split(), i, dialect);
                    }
                }
                return true;
            });
        }
    }

    private static void addValue(ColumnProfile profile, RecordText.Split record, int field, CsvDialect dialect) {
        if (field >= record.fields().size()) {
            return;
        }
        String value = record.fields().get(field);
        boolean isNull = value.isBlank()
                || !record.quoted().get(field) && dialect.nulls().contains(value.trim());
        if (!isNull) {
            profile.add(value.trim());
        }
    }

    private Schema decide() {
        if (isUnion) {
            sniffer.assume("union_by_name", "true");
        }
        if (isPadded) {
            sniffer.assume("null_padding", "true");
        }
        NumberStyle style = style();
        DateOrder order =
                DateOrder.of(profiles, style.decimalComma() || sniffer.dialect().delimiter() == ';');
        remarks.addAll(order.remarks());
        boolean mayHaveNulls = options.text("null").isEmpty();
        Map<String, ColumnProfile.Verdict> verdicts = new LinkedHashMap<>();
        profiles.forEach(
                (name, profile) -> verdicts.put(name, profile.verdict(style, order::isDayFirst, mayHaveNulls)));
        if (mayHaveNulls) {
            nulls(verdicts, style);
        }
        formats(verdicts);
        List<Field> fields = new ArrayList<>();
        verdicts.forEach((name, verdict) -> fields.add(new Field(name, verdict.type(), true)));
        return new Schema(fields);
    }

    /** The style that makes numbers of most columns, if any does of more than SQL's own. */
    private NumberStyle style() {
        CsvDialect dialect = sniffer.dialect();
        if (dialect.normalisesNumbers()
                || options.text("decimal_comma").isPresent()
                || options.text("thousands").isPresent()) {
            return new NumberStyle(dialect.decimalComma(), dialect.thousands());
        }
        boolean hasPoints = profiles.values().stream().anyMatch(ColumnProfile::hasFractions);
        boolean areGrouped = profiles.values().stream().allMatch(ColumnProfile::mayBeGroupedByPoints);
        boolean isCommaSeparated = dialect.delimiter() == ',';
        NumberStyle best = NumberStyle.PLAIN;
        long most = 0;
        for (NumberStyle style : NumberStyle.OTHERS) {
            boolean isPossible = (!style.decimalComma() || !isCommaSeparated || !hasPoints)
                    && (!style.thousands().equals(".") || areGrouped);
            boolean isGrouped = isCommaSeparated && style.equals(new NumberStyle(true, ""));
            long columns = profiles.values().stream()
                    .filter(profile -> profile.isOf(style) && !(isGrouped && profile.isOf(NumberStyle.ENGLISH)))
                    .count();
            if (isPossible && columns > most) {
                most = columns;
                best = style;
            }
        }
        if (best.decimalComma()) {
            sniffer.assume("decimal_comma", "true");
        }
        if (!best.thousands().isEmpty()) {
            sniffer.assume("thousands", best.thousands().equals("\u00a0") ? "nbsp" : best.thousands());
        }
        return best;
    }

    /** Words among other values, and numbers far from all others that are such as people take for nothing. */
    private void nulls(Map<String, ColumnProfile.Verdict> verdicts, NumberStyle style) {
        Set<String> nulls = new LinkedHashSet<>();
        Map<Double, Integer> columnsOfCodes = new HashMap<>();
        List<NumberExtremes.Code> codes = new ArrayList<>();
        profiles.forEach((name, profile) -> {
            ColumnProfile.Verdict verdict = Objects.requireNonNull(verdicts.get(name));
            verdict.nulls().stream().sorted().forEach(nulls::add);
            if (verdict.type().isNumber()) {
                NumberExtremes extremes = profile.extremes(style);
                extremes.codeBelow().ifPresent(codes::add);
                extremes.codeAbove().ifPresent(codes::add);
            } else if (verdict.type().isText()) {
                profile.spoiler(style)
                        .ifPresent(value -> remarks.add("column \"" + name + "\" is text because of values such as \""
                                + value + "\"; null = '" + value.replace("'", "''") + "' would leave numbers"));
            }
        });
        codes.forEach(code -> columnsOfCodes.merge(code.number(), 1, Integer::sum));
        for (NumberExtremes.Code code : codes) {
            if (code.isNines() || columnsOfCodes.getOrDefault(code.number(), 0) > 1) {
                nulls.addAll(code.spellings());
            }
        }
        nulls.removeIf(word -> word.contains("|")); // which the option has no way to say
        if (!nulls.isEmpty()) {
            sniffer.assume("null", "|" + String.join("|", nulls)); // and, as by default, an empty text
        }
    }

    /** Says a format once where all columns of a kind have it, and else of each column. */
    private void formats(Map<String, ColumnProfile.Verdict> verdicts) {
        Map<String, Map<String, Optional<String>>> byOption = new LinkedHashMap<>();
        verdicts.forEach((name, verdict) -> {
            String option = switch (verdict.type().kind()) {
                case DATE -> "date_format";
                case TIME -> "time_format";
                case TIMESTAMP, TIMESTAMPTZ -> "timestamp_format";
                default -> "";
            };
            if (!option.isEmpty() && options.text(option).isEmpty()) {
                byOption.computeIfAbsent(option, key -> new LinkedHashMap<>()).put(name, verdict.format());
            }
        });
        byOption.forEach((option, formats) -> {
            Set<Optional<String>> different = Set.copyOf(formats.values());
            if (different.size() == 1) {
                different.iterator().next().ifPresent(format -> sniffer.assume(option, format));
            } else {
                formats.forEach((name, format) -> format.ifPresent(it -> sniffer.assume(option + "." + name, it)));
            }
        });
    }

    /** The names of the columns under a header: in lower case, each another, and none empty. */
    static List<String> names(List<String> header) {
        Set<String> names = new LinkedHashSet<>();
        Map<String, Integer> doubled = new HashMap<>(); // the last number behind a name
        for (String cell : header) {
            String name = cell.replace("\ufeff", "").trim().toLowerCase(Locale.ROOT);
            String wanted = name.isEmpty() ? "column" + (names.size() + 1) : name;
            String unique = wanted;
            while (!names.add(unique)) {
                unique = wanted + "_" + doubled.merge(wanted, 1, Integer::sum);
            }
        }
        return List.copyOf(names);
    }
}
