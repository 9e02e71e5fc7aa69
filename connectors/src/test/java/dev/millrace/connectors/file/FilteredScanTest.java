package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ColumnPredicate.Comparison;
import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Sink;
import dev.millrace.connector.Source;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers that are told of predicates against rows that are filtered afterwards, value by value as boxed objects. A
 * failure prints its seed; -Dseed repeats it.
 */
@Tag("long")
class FilteredScanTest {
    private static final int FILES = Integer.getInteger("filter.files", 12);
    private static final int SCANS = 60;
    private static final Schema SCHEMA = FileScan.schema(
            "b", DataType.BOOLEAN,
            "s", DataType.SMALLINT,
            "i", DataType.INTEGER,
            "l", DataType.BIGINT,
            "r", DataType.REAL,
            "d", DataType.DOUBLE,
            "n", DataType.numeric(12, 3),
            "w", DataType.numeric(38, 0),
            "t", DataType.TEXT,
            "v", DataType.varchar(6),
            "day", DataType.DATE,
            "at", DataType.TIME,
            "ts", DataType.TIMESTAMP,
            "tz", DataType.TIMESTAMPTZ);

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    @Test
    void filteringWhileReadingIsFilteringAfterwards() throws IOException {
        long seed = Long.getLong("seed", 1);
        for (int file = 0; file < FILES; file++) {
            Random random = new Random(seed + file);
            List<List<String>> records = records(random);
            String message = "seed " + (seed + file);
            check(csv(records), random, message);
            check(json(records), random, message);
            check(arrow(csv(records)), random, message);
        }
    }

    private void check(Source source, Random random, String message) {
        int batchRows = 1 + random.nextInt(100);
        FileScan plain = new FileScan(memory.allocator()).batchRows(batchRows);
        List<Row> all = rows(plain, source, new ScanRequest(FileScan.allColumns(source), List.of(), 1));
        assertTrue(!all.isEmpty(), message);
        for (int i = 0; i < SCANS; i++) {
            List<ColumnPredicate> predicates = new ArrayList<>();
            for (int many = random.nextInt(4); many > 0; many--) {
                predicates.add(predicate(all, random));
            }
            List<Integer> columns = new ArrayList<>(FileScan.allColumns(source));
            Collections.shuffle(columns, random);
            columns = columns.subList(0, random.nextInt(columns.size()));
            FileScan scan = new FileScan(memory.allocator()).batchRows(batchRows);
            List<Row> found = rows(scan, source, new ScanRequest(columns, predicates, 1));
            List<Row> expected = new ArrayList<>();
            for (Row row : all) {
                if (predicates.stream().allMatch(predicate -> matches(row, predicate))) {
                    expected.add(
                            new Row(columns.stream().map(row::get).collect(Collectors.toCollection(ArrayList::new))));
                }
            }
            assertEquals(expected, found, message + ", " + predicates + " over " + columns);
            assertEquals(plain.rejections(), scan.rejections(), message + ", " + predicates);
        }
    }

    private static List<Row> rows(FileScan scan, Source source, ScanRequest request) {
        List<Row> rows = new ArrayList<>();
        scan.each(source, request, batch -> rows.addAll(TestBatches.rows(batch)));
        return rows;
    }

    /** With a constant that occurs, so that all comparisons have something to find. */
    private static ColumnPredicate predicate(List<Row> rows, Random random) {
        int column = random.nextInt(SCHEMA.size());
        Comparison comparison = Comparison.values()[random.nextInt(Comparison.values().length)];
        Object constant = rows.get(random.nextInt(rows.size())).get(column);
        boolean ofNull = comparison == Comparison.IS_NULL || comparison == Comparison.IS_NOT_NULL;
        return ofNull || constant == null
                ? new ColumnPredicate(
                        column, random.nextBoolean() ? Comparison.IS_NULL : Comparison.IS_NOT_NULL, Optional.empty())
                : new ColumnPredicate(column, comparison, Optional.of(constant));
    }

    private static boolean matches(Row row, ColumnPredicate predicate) {
        Object value = row.get(predicate.column());
        return switch (predicate.comparison()) {
            case IS_NULL -> value == null;
            case IS_NOT_NULL -> value != null;
            case EQ -> value != null && compare(value, predicate.value().get()) == 0;
            case NE -> value != null && compare(value, predicate.value().get()) != 0;
            case LT -> value != null && compare(value, predicate.value().get()) < 0;
            case LE -> value != null && compare(value, predicate.value().get()) <= 0;
            case GT -> value != null && compare(value, predicate.value().get()) > 0;
            case GE -> value != null && compare(value, predicate.value().get()) >= 0;
        };
    }

    private static int compare(Object a, Object b) {
        if (a instanceof String text) {
            return Arrays.compareUnsigned(
                    text.getBytes(StandardCharsets.UTF_8), ((String) b).getBytes(StandardCharsets.UTF_8));
        }
        if (a instanceof Double number) {
            return Double.compare(number, (Double) b); // PostgreSQL's order, as test rows have no negative zero
        }
        if (a instanceof BigDecimal decimal) {
            return decimal.compareTo((BigDecimal) b);
        }
        return a instanceof Long whole ? Long.compare(whole, (Long) b) : Boolean.compare((Boolean) a, (Boolean) b);
    }

    /** Texts of few different values, "" for NULL, sometimes none of the column's type. */
    private static List<List<String>> records(Random random) {
        List<List<String>> records = new ArrayList<>();
        boolean ascii = random.nextBoolean();
        int count = 1 + random.nextInt(400);
        for (int i = 0; i <= count; i++) {
            List<String> record = new ArrayList<>();
            boolean bad = i > 0 && random.nextInt(10) == 0;
            int badColumn = random.nextInt(SCHEMA.size());
            for (int column = 0; column < SCHEMA.size(); column++) {
                DataType type = SCHEMA.type(column);
                boolean rejected = bad && column == badColumn && type.kind() != DataType.Kind.TEXT;
                record.add(rejected ? "no value at all" : random.nextInt(6) == 0 ? "" : value(type, random, ascii));
            }
            records.add(record);
        }
        return records;
    }

    private static String value(DataType type, Random random, boolean ascii) {
        int small = random.nextInt(7) - 3;
        return switch (type.kind()) {
            case BOOLEAN -> random.nextBoolean() ? "true" : "false";
            case SMALLINT, INTEGER, BIGINT -> Integer.toString(small);
            case REAL, DOUBLE ->
                List.of("0.1", "-0", "0", "NaN", "Infinity", "-Infinity", "-2.5")
                        .get(small + 3);
            case NUMERIC -> type.scale() == 0 ? small + "0000000000000000000000000000" + small * small : small + ".125";
            case TEXT, VARCHAR ->
                (ascii
                                ? List.of("a", "ab", "b", "B", "a,b", "x y", "~\"")
                                : List.of("a", "é", "z", "😀", "\uffe6", "ab", "é\""))
                        .get(small + 3);
            case DATE -> "2024-02-" + (15 + small);
            case TIME -> "10:00:0" + (small + 3);
            case TIMESTAMP -> "1969-12-31 23:59:5" + (small + 3);
            case TIMESTAMPTZ -> "2024-06-01 0" + (small + 3) + ":00:00+02";
            default -> throw new IllegalArgumentException(type.toString());
        };
    }

    private Source csv(List<List<String>> records) throws IOException {
        String text = records.stream()
                .map(record -> record.stream()
                        .map(value -> value.isEmpty() ? "" : '"' + value.replace("\"", "\"\"") + '"')
                        .collect(Collectors.joining(",", "", "\n")))
                .collect(Collectors.joining());
        Path path = Files.writeString(folder.resolve("f.csv"), text);
        return FileScan.source(SCHEMA, "path", path.toString(), "header", "false");
    }

    private Source json(List<List<String>> records) throws IOException {
        String text = records.stream()
                .map(record -> IntStream.range(0, SCHEMA.size())
                        .filter(column -> !record.get(column).isEmpty())
                        .mapToObj(column -> '"' + SCHEMA.field(column).name() + "\":\""
                                + record.get(column).replace("\"", "\\\"") + '"')
                        .collect(Collectors.joining(",", "{", "}\n")))
                .collect(Collectors.joining());
        Path path = Files.writeString(folder.resolve("f.json"), text);
        return FileScan.source(SCHEMA, "path", path.toString());
    }

    /** The rows of another source. */
    private Source arrow(Source source) {
        Path path = folder.resolve("f.arrow");
        try (Sink sink = new FileSinkFactory()
                .open(
                        SCHEMA,
                        true,
                        new Options(Map.of("path", path.toString())),
                        new TestSinkContext(memory.allocator()))) {
            new FileScan(memory.allocator()).each(source, FileScan.allColumns(source), 1, sink::write);
            sink.commit(1);
        }
        return FileScan.source(new Schema(List.of()), "path", path.toString());
    }

    @Test
    void whatCannotBeComparedPasses() throws IOException {
        Schema schema = FileScan.schema("c", DataType.character(3), "u", DataType.UUID, "i", DataType.INTEGER);
        Path path = Files.writeString(folder.resolve("c.csv"), "a,00000000-0000-0000-0000-000000000001,1\n,,2\n");
        Source source = FileScan.source(schema, "path", path.toString(), "header", "false");
        List<ColumnPredicate> predicates = List.of(
                new ColumnPredicate(0, Comparison.EQ, Optional.of("b")),
                new ColumnPredicate(1, Comparison.EQ, Optional.of(new java.util.UUID(0, 2))),
                new ColumnPredicate(2, Comparison.EQ, Optional.of("no number")));
        List<Row> rows = rows(new FileScan(memory.allocator()), source, new ScanRequest(List.of(2), predicates, 1));
        assertEquals(List.of(Row.of(1L), Row.of(2L)), rows);
        ColumnPredicate present = new ColumnPredicate(1, Comparison.IS_NOT_NULL, Optional.empty());
        assertEquals(
                List.of(Row.of(1L)),
                rows(new FileScan(memory.allocator()), source, new ScanRequest(List.of(2), List.of(present), 1)));
    }

    @Test
    void rowsThatNobodyWantsStillBeatTime() throws IOException {
        Path path = Files.writeString(folder.resolve("p.csv"), "id,ts\n1,2020-01-01 00:00:00\n2,2020-01-01 00:00:10\n");
        Schema schema = FileScan.schema("id", DataType.INTEGER, "ts", DataType.TIMESTAMP);
        Source source = FileScan.source(schema, "path", path.toString(), "pace", "1");
        ColumnPredicate second = new ColumnPredicate(0, Comparison.EQ, Optional.of(2L));
        try (var reader = source.open(new ScanRequest(List.of(0), List.of(second), 1), new FileScan(memory.allocator()))
                .get(0)) {
            try (Batch batch = reader.poll().orElseThrow()) {
                assertEquals("1", FileScan.text(batch, 0), "the second is not due yet");
            }
        }
    }
}
