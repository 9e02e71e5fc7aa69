package dev.millrace.server.differential;

import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

/**
 * Rows split over CSV files in a random way: one file or several, in the order of time, overlapping or all over it, sorted
 * within or as they came, packed or not, columns in any order, with bad records at the head and in between, some files empty.
 * Names say nothing of the order.
 */
final class RandomFiles {
    private static final DateTimeFormatter TIMESTAMP =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC);
    private static final String NULL = "\\N";

    private final Chance chance;
    private final Path directory;

    RandomFiles(Chance chance, Path directory) {
        this.chance = chance;
        this.directory = directory;
    }

    /** The stream's declaration. */
    String create(String stream) {
        return "CREATE STREAM " + stream + " (" + RandomRows.DECLARATIONS
                + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'file', path = '" + directory
                + "/*', format = 'csv', header = true, \"null\" = '" + NULL + "', on_error = 'skip')";
    }

    /** Writes the files; gives the rows as the oracle has them, each with the watermark of the rows before it in its file. */
    List<Row> write(List<Row> rows) {
        List<List<Row>> files = split(rows);
        List<Row> expected = new ArrayList<>();
        for (int file = 0; file < files.size(); file++) {
            write(files.get(file), file);
            long watermark = RandomRows.EARLIEST_MICROS;
            for (Row row : files.get(file)) {
                expected.add(RandomRows.withWatermark(row, watermark));
                watermark = Math.max(watermark, (Long) row.get(1) - RandomRows.DELAY_MICROS);
            }
        }
        return expected;
    }

    private List<List<Row>> split(List<Row> rows) {
        int count = chance.of(1, 2, 3, 5, 8);
        List<List<Row>> files = new ArrayList<>();
        for (int file = 0; file < count; file++) {
            files.add(new ArrayList<>());
        }
        int kind = chance.below(4);
        int stretch = chance.of(1, 7, 50);
        for (int row = 0; row < rows.size(); row++) {
            int file = switch (kind) {
                case 0 -> (int) ((long) row * count / rows.size()); // one after the other
                case 1 -> row / stretch % count; // side by side
                case 2 -> Math.floorMod(String.valueOf(rows.get(row).get(2)).hashCode(), count);
                default -> chance.below(count);
            };
            files.get(file).add(rows.get(row));
        }
        for (List<Row> file : files) {
            if (chance.percent(30)) {
                file.sort(Comparator.comparing(row -> (Long) row.get(1)));
            }
        }
        return files;
    }

    private void write(List<Row> rows, int number) {
        List<Integer> columns = new ArrayList<>(
                IntStream.range(0, RandomRows.SCHEMA.size()).boxed().toList());
        for (int swaps = chance.of(0, 5); swaps > 0; swaps--) {
            Collections.swap(columns, chance.below(columns.size()), chance.below(columns.size()));
        }
        int badPercent = chance.of(0, 0, 5);
        StringBuilder text = new StringBuilder(columns.stream()
                        .map(column -> RandomRows.SCHEMA.field(column).name())
                        .collect(Collectors.joining(",")))
                .append('\n');
        for (int bad = chance.of(0, 0, 1, 400); bad > 0; bad--) {
            text.append("not,a,row\n");
        }
        for (Row row : rows) {
            text.append(columns.stream()
                            .map(column -> value(RandomRows.SCHEMA.field(column), row.get(column)))
                            .collect(Collectors.joining(",")))
                    .append('\n');
            if (chance.percent(badPercent)) {
                text.append("neither,is,this\n");
            }
        }
        boolean packed = chance.percent(25);
        Path file = directory.resolve((char) ('a' + chance.below(26)) + "-" + number + (packed ? ".csv.gz" : ".csv"));
        try (OutputStream plain = Files.newOutputStream(file);
                OutputStream out = packed ? new GZIPOutputStream(plain) : plain) {
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String value(Field field, Object value) {
        if (value == null) {
            return NULL;
        }
        DataType type = field.type();
        if (type.equals(DataType.TIMESTAMP) || type.equals(DataType.TIMESTAMPTZ)) {
            String time = TIMESTAMP.format(
                    Instant.EPOCH.plusNanos(0).plus((Long) value, java.time.temporal.ChronoUnit.MICROS));
            return type.equals(DataType.TIMESTAMP) ? time : time + "+00";
        } else if (type.equals(DataType.DATE)) {
            return LocalDate.ofEpochDay((Long) value).toString();
        } else if (type.equals(DataType.TIME)) {
            return LocalTime.ofNanoOfDay((Long) value * 1000).toString();
        } else if (type.equals(DataType.TEXT)) {
            return '"' + value.toString().replace("\"", "\"\"") + '"';
        }
        return value instanceof BigDecimal decimal ? decimal.toPlainString() : value.toString();
    }
}
