package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Source;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class CsvSourceTest {
    private static final Schema ID_NAME = FileScan.schema("id", DataType.INTEGER, "name", DataType.TEXT);

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private FileScan scan;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("f.csv"), text, StandardCharsets.ISO_8859_1);
    }

    private List<String> read(Schema declared, String text, String... options) throws IOException {
        List<String> all = new ArrayList<>(List.of("path", file(text).toString()));
        all.addAll(Arrays.asList(options));
        scan = new FileScan(memory.allocator());
        return scan.rows(FileScan.source(declared, all.toArray(String[]::new)));
    }

    @Test
    void columnsAreFoundByTheHeaderInAnyOrder() throws IOException {
        assertEquals(List.of("1|x", "2|y"), read(ID_NAME, "other,Name,id\n9,x,1\n9,y,2\n"));
    }

    @Test
    void withoutAHeaderColumnsAreFoundByPosition() throws IOException {
        assertEquals(List.of("1|x", "2|y"), read(ID_NAME, "1,x\n2,y"));
        assertEquals(List.of("1|id"), read(ID_NAME, "1,id\n", "header", "false"));
    }

    @Test
    void aHeaderThatLacksAColumnIsAnErrorWithASuggestion() {
        MillraceException e = assertThrows(MillraceException.class, () -> read(ID_NAME, "id,naem\n1,x\n"));
        assertEquals("42703", e.sqlState().code());
        assertEquals("did you mean \"naem\"?", e.hint().get());
    }

    @Test
    void quotesHoldDelimitersLineEndsAndQuotes() throws IOException {
        String text =
                "id,name\r\n1,\"a,b\"\r\n2,\"line\none\"\r\n3,\"say \"\"hi\"\"\"\r\n4,\"\"\r\n5,\r\n6,in\"side\r\n";
        assertEquals(List.of("1|a,b", "2|line\none", "3|say \"hi\"", "4|", "5|~", "6|in\"side"), read(ID_NAME, text));
        assertEquals(List.of(), scan.rejections());
        assertEquals(List.of("1|a'b\\"), read(ID_NAME, "1,'a\\'b\\\\'\n", "quote", "'", "escape", "\\"));
    }

    @Test
    void byteOrderMarkEmptyLinesCommentsAndSkippedLinesDoNotCount() throws IOException {
        assertEquals(List.of("1|x"), read(ID_NAME, "\u00ef\u00bb\u00bfid,name\n\n\r\n1,x\n\n"));
        assertEquals(
                List.of("1|x", "2|y"),
                read(
                        ID_NAME,
                        "made by hand\n# c\nid,name\n# \"no\n1,x\n#z\n2,y\n#",
                        "skip_lines",
                        "1",
                        "comment",
                        "#"));
    }

    @Test
    void badRecordsAreRejectedWithLineColumnAndReason() throws IOException {
        String text = "id,name\n1,a\nx,b\n\"3\n\",c\n4\n5,d,e\n6,\"f\"g\n7,h\u00ff\n8,i\0\n9,j\n";
        assertEquals(List.of("1|a", "3|c", "9|j"), read(ID_NAME, text));
        List<String> rejections = scan.rejections().stream().sorted().toList();
        assertEquals(
                List.of(
                        "10 name 22021 invalid byte sequence for encoding \"UTF8\": 0x00",
                        "3 id 22P02 invalid input syntax for type integer: \"x\"",
                        "6  22P04 missing data for column \"name\"",
                        "7  22P04 extra data after last expected column",
                        "8  22P04 data after the closing quote of a field",
                        "9 name 22021 invalid byte sequence for encoding \"UTF8\": \"h\ufffd\""),
                rejections);
        assertEquals(
                "x,b",
                scan.rejected.stream()
                        .filter(r -> r.position() == 3)
                        .findFirst()
                        .get()
                        .text());
    }

    @Test
    void theRejectedRowsDoNotDependOnTheColumnsAskedFor() throws IOException {
        Path path = file("id,name\n1,a\nx,b\n3,c\n");
        Source source = FileScan.source(ID_NAME, "path", path.toString());
        for (List<Integer> columns : List.of(List.<Integer>of(), List.of(1), List.of(1, 0))) {
            FileScan each = new FileScan(memory.allocator());
            assertEquals(2, each.rows(source, columns, 1).size());
            assertEquals(1, each.rejected.size());
        }
        assertEquals(List.of("a|1", "c|3"), new FileScan(memory.allocator()).rows(source, List.of(1, 0), 1));
    }

    @Test
    void anUnclosedQuoteCostsOneLine() throws IOException {
        assertEquals(List.of("1|a", "3|c"), read(ID_NAME, "1,a\n2,\"b\n3,c\n"));
        assertEquals(List.of("2  22P04 unterminated CSV quoted field"), scan.rejections());
    }

    @Test
    void tooLongRecordsAreRejectedAndTheNextIsRead() throws IOException {
        String text = "1,a\n2," + "b".repeat(300_000) + "\n3,c\n";
        assertEquals(List.of("1|a", "3|c"), read(ID_NAME, text, "max_record_bytes", "100000"));
        assertEquals(List.of("2  54000 record is longer than 100000 bytes"), scan.rejections());
        assertEquals(3, read(ID_NAME, text).size());
    }

    @Test
    void shortAndLongRecordsCanBeAllowed() throws IOException {
        assertEquals(
                List.of("1|~", "2|b"), read(ID_NAME, "1\n2,b,c,d\n", "null_padding", "true", "ignore_extra", "true"));
    }

    @Test
    void nullTextsCountOutsideQuotesOnly() throws IOException {
        assertEquals(
                List.of("~|~", "~|NA", "3|", "~|?", "~|~"),
                read(ID_NAME, "NA,NA\n?,\"NA\"\n3,\n ,\"?\"\n,?\n", "null", "NA|?"));
        Schema notNull = Schema.of(new Field("id", DataType.INTEGER, false));
        assertEquals(List.of("1"), read(notNull, "1\nNA\n", "null", "NA"));
        assertEquals(List.of("2 id 23502 null value in column \"id\" violates not-null constraint"), scan.rejections());
    }

    @Test
    void everyTypeIsRead() throws IOException {
        Schema all = FileScan.schema(
                "a",
                DataType.BOOLEAN,
                "b",
                DataType.SMALLINT,
                "c",
                DataType.BIGINT,
                "d",
                DataType.REAL,
                "e",
                DataType.DOUBLE,
                "f",
                DataType.numeric(10, 2),
                "g",
                DataType.varchar(3),
                "h",
                DataType.character(4),
                "i",
                DataType.DATE,
                "j",
                DataType.TIME,
                "k",
                DataType.TIMESTAMP,
                "l",
                DataType.TIMESTAMPTZ,
                "m",
                DataType.INTERVAL,
                "n",
                DataType.UUID,
                "o",
                DataType.BYTEA);
        String row =
                "t|-7|9223372036854775807|0.1|1e-07|12345678.90|abc|xy  |2020-02-29|23:59:59.5|2020-01-01 00:00:00.123|"
                        + "2020-01-01 00:00:00+00|1 day 02:03:04|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|\\x00ff";
        assertEquals(List.of(row), read(all, row.replace('|', ',') + "\n"));
        assertEquals(List.of(row), read(all, "\"" + row.replace("|", "\",\"") + "\"\n"));
    }

    @Test
    void formatsCommasAndMarksAreOptions() throws IOException {
        Schema schema = FileScan.schema(
                "d",
                DataType.DATE,
                "t",
                DataType.TIMESTAMP,
                "x",
                DataType.DOUBLE,
                "n",
                DataType.numeric(12, 2),
                "i",
                DataType.BIGINT,
                "s",
                DataType.TEXT);
        assertEquals(
                List.of("2007-01-13|2013-08-04 06:44:30|1234.5|-1234.50|1000|a,b"),
                read(
                        schema,
                        "13/1/2007;1375598670;1\u00a0234,5;\"-1\u00a0234,50\";1\u00a0000;a,b\n",
                        "delimiter",
                        ";",
                        "decimal_comma",
                        "true",
                        "thousands",
                        "nbsp",
                        "encoding",
                        "latin-1",
                        "date_format",
                        "D/M/YY|D/M/YYYY",
                        "timestamp_format.t",
                        "unix"));
    }

    @Test
    void undeclaredColumnsAreInferred() throws IOException {
        Path path =
                file("Id,When,Ok,x,Note,Empty\n1,2020-01-01 10:00:00,true,1.5,a,\n2,2020-01-02 10:00:00,false,2,b,\n");
        Source source = FileScan.source(new Schema(List.of()), "path", path.toString());
        assertEquals(
                "id bigint, when timestamp without time zone, ok boolean, x double precision, note text, empty text",
                source.schema().toString());
        assertEquals(
                "1|2020-01-01 10:00:00|t|1.5|a|~",
                new FileScan(memory.allocator()).rows(source).get(0));
        Source positional = FileScan.source(
                new Schema(List.of()), "path", file("1,a\n2,b\n").toString());
        assertEquals("column1 bigint, column2 text", positional.schema().toString());
    }

    @Test
    void namesThatAreMissingOrTwiceInAHeaderAreInferred() throws IOException {
        Source source = FileScan.source(
                new Schema(List.of()), "path", file(",x,X,\n0,1,2,a\n").toString());
        assertEquals(
                "column1 bigint, x bigint, x_1 bigint, column4 text",
                source.schema().toString());
        assertEquals(List.of("0|1|2|a"), new FileScan(memory.allocator()).rows(source));
    }

    @Test
    void columnsAreInferredFromWhatADamagedFileBeginsWith() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            SplittableRandom random = new SplittableRandom(1);
            out.write("id,x\n".getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < 10_000; i++) {
                out.write((i + "," + random.nextInt() + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        Path damaged = folder.resolve("damaged.csv.gz");
        Files.write(damaged, Arrays.copyOf(packed.toByteArray(), packed.size() / 2));
        Source source = FileScan.source(new Schema(List.of()), "path", damaged.toString());
        assertEquals("id bigint, x bigint", source.schema().toString());
    }

    @Test
    void missingFilesDirectoriesAndMisspeltOptionsSaySo() throws IOException {
        assertCode("58P01", () -> read("/nonexistent/x.csv"));
        assertCode("58P01", () -> read(folder + "/*.nothing"));
        assertCode("42809", () -> read(folder.toString()));
        MillraceException e = assertThrows(
                MillraceException.class,
                () -> FileScan.source(ID_NAME, "path", file("1,a\n").toString(), "delimeter", ";"));
        assertEquals("22023", e.sqlState().code());
        assertEquals("did you mean \"delimiter\"?", e.hint().get());
    }

    private void read(String path) {
        new FileScan(memory.allocator()).rows(FileScan.source(ID_NAME, "path", path));
    }

    private static void assertCode(String code, org.junit.jupiter.api.function.Executable executable) {
        assertEquals(
                code,
                assertThrows(MillraceException.class, executable).sqlState().code());
    }

    @Test
    void aTruncatedGzipGivesItsRowsAndThenTheError() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        StringBuilder text = new StringBuilder("id,name\n");
        for (int i = 0; i < 50_000; i++) {
            text.append(i).append(",name").append(i * 7919L % 10007).append('\n');
        }
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.toString().getBytes(StandardCharsets.UTF_8));
        }
        Path whole = Files.write(folder.resolve("whole.csv.gz"), bytes.toByteArray());
        assertEquals(
                50_000,
                new FileScan(memory.allocator())
                        .rows(FileScan.source(ID_NAME, "path", whole.toString()))
                        .size());
        Path cut = Files.write(folder.resolve("cut.csv.gz"), Arrays.copyOf(bytes.toByteArray(), bytes.size() / 2));
        List<String> rows = new ArrayList<>();
        MillraceException e = assertThrows(
                MillraceException.class,
                () -> new FileScan(memory.allocator())
                        .each(FileScan.source(ID_NAME, "path", cut.toString()), List.of(0), 1, batch -> {
                            for (int row = 0; row < batch.rowCount(); row++) {
                                rows.add(FileScan.text(batch, row));
                            }
                        }));
        assertEquals("XX001", e.sqlState().code());
        assertTrue(e.getMessage().contains("ends in the middle"), e.getMessage());
        assertTrue(rows.size() > 10_000, rows.size() + " rows");
        Path fake = Files.writeString(folder.resolve("fake.csv.gz"), "id,name\n1,a\n");
        MillraceException notGzip = assertThrows(MillraceException.class, () -> read(fake.toString()));
        assertTrue(notGzip.getMessage().contains("not in gzip format"), notGzip.getMessage());
    }

    @Test
    void binaryJunkIsRejectedRecordByRecord() throws IOException {
        byte[] junk = new byte[1 << 20];
        new java.util.Random(7).nextBytes(junk);
        Path path = Files.write(folder.resolve("junk.csv"), junk);
        FileScan junkScan = new FileScan(memory.allocator());
        List<String> rows = junkScan.rows(FileScan.source(ID_NAME, "path", path.toString()));
        assertTrue(rows.size() < 3, rows.size() + " rows");
        assertTrue(junkScan.rejected.size() > 1000, junkScan.rejected.size() + " rejected");
    }

    @Test
    void severalFilesAndGlobsAreReadByName() throws IOException {
        Files.writeString(folder.resolve("b1.csv"), "name,id\nx,1\n");
        Files.writeString(folder.resolve("b2.csv"), "id,name\n2,y\n");
        Source glob = FileScan.source(ID_NAME, "path", folder + "/b*.csv");
        assertEquals(List.of("1|x", "2|y"), new FileScan(memory.allocator()).rows(glob));
        Source list = FileScan.source(ID_NAME, "path", folder + "/b2.csv, " + folder + "/b1.csv");
        assertEquals(List.of("2|y", "1|x"), new FileScan(memory.allocator()).rows(list));
        assertEquals(List.of("2|y", "1|x"), new FileScan(memory.allocator()).rows(list, List.of(0, 1), 4));
    }

    @Test
    void aLargeFileIsSharedByReadersThatKnowTheirLines() throws IOException {
        StringBuilder text = new StringBuilder("id,name\n");
        int rows = 2_500_000;
        for (int i = 0; i < rows; i++) {
            text.append(i)
                    .append(i == 2_000_000 ? "x" : "")
                    .append(",n")
                    .append(i % 10)
                    .append('\n');
        }
        Path path = file(text.toString());
        FileScan parallel = new FileScan(memory.allocator());
        long[] counted = new long[2];
        parallel.each(FileScan.source(ID_NAME, "path", path.toString()), List.of(0), 3, batch -> {
            for (int row = 0; row < batch.rowCount(); row++) {
                counted[0]++;
                counted[1] += ((org.apache.arrow.vector.IntVector) batch.column(0)).get(row);
            }
        });
        assertEquals(rows - 1, counted[0]);
        assertEquals((long) rows * (rows - 1) / 2 - 2_000_000, counted[1]);
        assertEquals(
                List.of("2000002 id 22P02 invalid input syntax for type integer: \"2000000x\""), parallel.rejections());
    }
}
