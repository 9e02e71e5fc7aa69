package dev.millrace.sketch.csv;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * A CSV file in memory, as text by column. Reads commas, semicolons, tabs and blanks, with or without a header, quoted
 * fields, decimal commas where commas do not separate, and gzip.
 *
 * @param names of the columns; c1, c2 ... without a header
 * @param columns by column and row; empty text for a missing value
 * @param rows how many
 * @param skipped lines that had another number of fields
 */
public record CsvTable(List<String> names, List<List<String>> columns, int rows, int skipped) {
    private static final String SEPARATORS = ",;\t ";
    private static final List<String> MISSING = List.of("", "NA", "N/A", "null", "NULL", "?", "\\N");
    private static final int LOOKED_AT = 50;

    /**
     * Reads a file.
     *
     * @param mostRows rows beyond which it stops
     */
    public static CsvTable read(Path path, int mostRows) {
        List<String> lines = new ArrayList<>();
        try (InputStream in = Files.newInputStream(path);
                InputStream plain = path.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
                BufferedReader reader = new BufferedReader(new InputStreamReader(
                        plain,
                        StandardCharsets.UTF_8
                                .newDecoder()
                                .onMalformedInput(java.nio.charset.CodingErrorAction.REPLACE)))) {
            for (String line = reader.readLine(); line != null && lines.size() <= mostRows; line = reader.readLine()) {
                if (!line.isBlank()) {
                    lines.add(line);
                }
            }
        } catch (NoSuchFileException e) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, "there is no file " + path);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot read " + path + ": " + e.getMessage(), e);
        }
        if (lines.isEmpty()) {
            throw MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, path + " has no lines");
        }
        return of(lines, mostRows);
    }

    private static CsvTable of(List<String> lines, int mostRows) {
        char separator = separator(lines);
        boolean header = isHeader(fields(lines.get(0), separator));
        List<String> first = fields(lines.get(0), separator);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < first.size(); i++) {
            String name = header ? first.get(i).trim() : "c" + (i + 1);
            names.add(name.isEmpty() || names.contains(name) ? name + "_" + (i + 1) : name);
        }
        List<List<String>> columns = new ArrayList<>();
        names.forEach(name -> columns.add(new ArrayList<>()));
        int skipped = 0;
        int rows = 0;
        for (int l = header ? 1 : 0; l < lines.size() && rows < mostRows; l++) {
            List<String> fields = fields(lines.get(l), separator);
            if (fields.size() != names.size()) {
                skipped++;
                continue;
            }
            for (int i = 0; i < fields.size(); i++) {
                String field = fields.get(i).trim();
                columns.get(i).add(MISSING.contains(field) ? "" : field.intern());
            }
            rows++;
        }
        return new CsvTable(names, columns, rows, skipped);
    }

    private static char separator(List<String> lines) {
        char best = ',';
        long most = 0;
        for (char candidate : SEPARATORS.toCharArray()) {
            int fields = fields(lines.get(lines.size() / 2), candidate).size();
            int same = 0;
            for (int i = 0; i < Math.min(LOOKED_AT, lines.size()); i++) {
                same += fields(lines.get(i), candidate).size() == fields ? 1 : 0;
            }
            long score = fields == 1 ? 0 : (long) same * 100 + (candidate == ' ' ? 0 : Math.min(fields, 99));
            if (score > most) {
                most = score;
                best = candidate;
            }
        }
        return best;
    }

    private static boolean isHeader(List<String> fields) {
        return fields.stream()
                .noneMatch(field -> number(field.trim()).isPresent()
                        || TimeText.parse(field.trim()).isPresent());
    }

    static List<String> fields(String line, char separator) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quoted) {
                if (c != '"') {
                    field.append(c);
                } else if (i + 1 < line.length() && line.charAt(i + 1) == '"') {
                    field.append(c);
                    i++;
                } else {
                    quoted = false;
                }
            } else if (c == '"' && field.toString().isBlank()) {
                quoted = true;
                field.setLength(0);
            } else if (c == separator) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }

    /** A field as a number, with a point or a decimal comma. */
    public static Optional<Double> number(String field) {
        if (field.isEmpty() || field.length() > 64) {
            return Optional.empty();
        }
        char last = field.charAt(field.length() - 1);
        boolean numeric = last >= '0' && last <= '9' || last == '.' || last == 'N' || last == 'y';
        if (!numeric) {
            return Optional.empty(); // the JDK would take a trailing d or f
        }
        try {
            return Optional.of(Double.parseDouble(field.indexOf(',') >= 0 ? field.replace(',', '.') : field));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** A field as a whole number. */
    public static Optional<Long> whole(String field) {
        if (field.isEmpty() || field.length() > 19) {
            return Optional.empty();
        }
        for (int i = field.charAt(0) == '-' && field.length() > 1 ? 1 : 0; i < field.length(); i++) {
            if (field.charAt(i) < '0' || field.charAt(i) > '9') {
                return Optional.empty();
            }
        }
        try {
            return Optional.of(Long.parseLong(field));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
