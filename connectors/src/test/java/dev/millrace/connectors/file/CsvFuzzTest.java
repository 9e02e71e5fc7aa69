package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.connector.Source;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Random files against a plain reader that goes character by character. A failure prints its seed; -Dseed repeats it. */
class CsvFuzzTest {
    private static final int FILES = Integer.getInteger("fuzz.files", 400);
    private static final String ALPHABET = "ab,;\"\n\r\\ '#é😀01\t";

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    @Test
    void wellFormedFilesComeBackAsTheyWereWritten() throws IOException {
        long seed = Long.getLong("seed", 1);
        for (int file = 0; file < FILES; file++) {
            Random random = new Random(seed + file);
            int columns = 1 + random.nextInt(5);
            List<Field> fields = new ArrayList<>();
            for (int i = 0; i < columns; i++) {
                fields.add(new Field("c" + i, i == 0 ? DataType.BIGINT : DataType.TEXT, true));
            }
            char delimiter = ",;\t".charAt(random.nextInt(3));
            boolean crlf = random.nextBoolean();
            StringBuilder text = new StringBuilder();
            List<String> expected = new ArrayList<>();
            int rows = random.nextInt(200);
            for (int row = 0; row < rows; row++) {
                List<String> values = new ArrayList<>();
                for (int i = 0; i < columns; i++) {
                    String value = i == 0 ? Long.toString(random.nextLong() >> random.nextInt(64)) : word(random);
                    boolean missing = i > 0 && random.nextInt(6) == 0;
                    values.add(missing ? "~" : value);
                    text.append(i > 0 ? delimiter : "").append(missing ? "" : written(value, delimiter, random));
                }
                text.append(crlf ? "\r\n" : "\n");
                if (random.nextInt(8) == 0) {
                    text.append(crlf ? "\r\n" : "\n"); // an empty line
                }
                expected.add(String.join("|", values));
            }
            if (text.length() > 1 && random.nextBoolean()) {
                text.setLength(text.length() - (crlf ? 2 : 1)); // no line end at the end
            }
            Path path = Files.writeString(folder.resolve("f.csv"), text);
            FileScan scan = new FileScan(memory.allocator()).batchRows(1 + random.nextInt(40));
            Source source = FileScan.source(
                    new Schema(fields), "path", path.toString(), "header", "false", "delimiter", "" + delimiter);
            assertEquals(expected, scan.rows(source), "seed " + (seed + file));
            assertEquals(List.of(), scan.rejections(), "seed " + (seed + file));
        }
    }

    private static String word(Random random) {
        int[] points = ALPHABET.codePoints().toArray();
        StringBuilder word = new StringBuilder();
        int length = random.nextInt(20) == 0 ? random.nextInt(300) : random.nextInt(12);
        for (int i = 0; i < length; i++) {
            word.appendCodePoint(points[random.nextInt(points.length)]);
        }
        return word.toString();
    }

    private static String written(String value, char delimiter, Random random) {
        boolean needed = value.isEmpty()
                || value.indexOf(delimiter) >= 0
                || value.indexOf('\n') >= 0
                || value.indexOf('\r') >= 0
                || value.startsWith("\"");
        return needed || random.nextInt(5) == 0 ? '"' + value.replace("\"", "\"\"") + '"' : value;
    }

    @Test
    void anyBytesGiveTheSameRowsAndRejectionsHoweverTheyAreCut() throws IOException {
        long seed = Long.getLong("seed", 1);
        Schema schema = FileScan.schema("a", DataType.INTEGER, "b", DataType.TEXT, "c", DataType.DOUBLE);
        String pieces = "1,2.5\"\n\r\n,x,,7\0é";
        for (int file = 0; file < FILES; file++) {
            Random random = new Random(seed + file);
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(2000); i > 0; i--) {
                text.append(random.nextInt(12) == 0 ? "1,b,2.5\n" : pieces.charAt(random.nextInt(pieces.length())));
            }
            Path path = Files.write(
                    folder.resolve("f.csv"),
                    text.toString()
                            .getBytes(random.nextBoolean() ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1));
            Source source = FileScan.source(schema, "path", path.toString(), "header", "false");
            List<String> expected = new ArrayList<>();
            List<String> rejected = new ArrayList<>();
            for (int batchRows : new int[] {4096, 1, 7}) {
                FileScan scan = new FileScan(memory.allocator()).batchRows(batchRows);
                List<String> rows = scan.rows(source);
                List<String> rejections = scan.rejections().stream().sorted().toList();
                if (batchRows == 4096) {
                    expected = rows;
                    rejected = rejections;
                }
                assertEquals(expected, rows, "seed " + (seed + file));
                assertEquals(rejected, rejections, "seed " + (seed + file));
            }
        }
    }
}
