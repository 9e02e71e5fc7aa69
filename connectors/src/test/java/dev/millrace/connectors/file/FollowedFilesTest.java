package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens to followed files while they are read: other names, other contents, half of them, none. No row comes twice. */
class FollowedFilesTest {
    @TempDir
    private Path folder;

    private final BufferAllocator allocator = new RootAllocator();
    private final long[] nanos = {0};
    private FileScan scan;
    private SourceReader reader;

    @BeforeEach
    void open() {
        open("true");
    }

    private void open(String header) {
        Source source = FileScan.source(
                FileScan.schema("id", DataType.INTEGER),
                "path",
                folder + "/in*",
                "mode",
                "follow",
                "format",
                "csv",
                "header",
                header);
        scan = new FileScan(allocator).batchRows(16).clock(new Clock() {
            @Override
            public long epochMicros() {
                return nanos[0] / 1000;
            }

            @Override
            public long nanoTime() {
                return nanos[0];
            }
        });
        reader = source.open(new ScanRequest(List.of(0), List.of(), 1), scan).get(0);
    }

    @AfterEach
    void close() {
        reader.close();
        allocator.close();
    }

    private static String lines(int from, int to) {
        StringBuilder text = new StringBuilder();
        IntStream.range(from, to).forEach(id -> text.append(id).append('\n'));
        return text.toString();
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private void append(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text, StandardOpenOption.APPEND);
    }

    private static byte[] packed(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    /** The rows that come until nothing has come for some seconds. */
    private List<Integer> rows() {
        List<Integer> rows = new ArrayList<>();
        for (int idle = 0; idle < 12; ) {
            Optional<Batch> polled = reader.poll();
            if (polled.isEmpty()) {
                if (reader.retryAfterMicros() > 0) {
                    idle++;
                    nanos[0] += 300_000_000;
                }
                continue;
            }
            try (Batch batch = polled.get()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    rows.add(Integer.parseInt(FileScan.text(batch, row)));
                }
            }
        }
        return rows;
    }

    private static List<Integer> ids(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    @Test
    void aFileUnderAnotherNameIsTheSameFile() throws IOException {
        write("in1", "id\n" + lines(0, 100));
        assertEquals(ids(0, 100), rows());
        Files.move(folder.resolve("in1"), folder.resolve("in2"));
        assertEquals(List.of(), rows());
        append("in2", lines(100, 110));
        assertEquals(ids(100, 110), rows());
        for (int name = 3; name < 40; name++) {
            Files.move(folder.resolve("in" + (name - 1)), folder.resolve("in" + name));
            write("in" + (name - 1), "id\n" + name + "\n");
            assertEquals(List.of(name), rows());
            Files.delete(folder.resolve("in" + (name - 1)));
        }
        assertEquals(List.of(), scan.rejections());
    }

    @Test
    void filesThatPassTheirNamesOnAreReadOnceEach() throws IOException {
        for (int newest = 0; newest < 6; newest++) {
            reader.poll().ifPresent(Batch::close); // so that the names change between two looks at the folder
            for (int age = newest; age > 0; age--) { // as logrotate does it: in1 is in2 now, the one before in3, ..
                Files.move(folder.resolve("in" + age), folder.resolve("in" + (age + 1)));
            }
            write("in1", "id\n" + lines(10 * newest, 10 * newest + newest));
            assertEquals(ids(10 * newest, 10 * newest + newest), rows());
        }
        append("in4", "77\n");
        assertEquals(List.of(77), rows());
        assertEquals(List.of(), scan.rejections());
    }

    @Test
    void aLinkToAFileIsNoOtherFile() throws IOException {
        write("in1", "id\n" + lines(0, 10));
        Files.createLink(folder.resolve("in2"), folder.resolve("in1"));
        assertEquals(ids(0, 10), rows());
    }

    @Test
    void aFileWrittenOverByALongerOneIsReadAgainAndTold() throws IOException {
        write("in1", "id\n" + lines(0, 50));
        assertEquals(ids(0, 50), rows());
        write("in1", "id\n" + lines(1000, 1200)); // the same inode, and longer
        assertEquals(ids(1000, 1200), rows());
        assertEquals(1, scan.rejections().size());
        assertTrue(
                scan.rejections().get(0).contains("written over after 50 rows"),
                scan.rejections().toString());
        append("in1", lines(1200, 1210));
        assertEquals(ids(1200, 1210), rows());
        assertEquals(1, scan.rejections().size());
    }

    @Test
    void otherContentsOfTheSameLengthAreNoticed() throws IOException {
        write("in1", "id\n" + lines(100, 200));
        assertEquals(ids(100, 200), rows());
        Path file = write("in1", "id\n" + lines(200, 300));
        Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(System.currentTimeMillis() + 5000));
        assertEquals(ids(200, 300), rows());
    }

    @Test
    void aFileWhoseEndOnlyIsOtherIsNoticed() throws IOException {
        write("in1", "id\n" + lines(0, 5000));
        assertEquals(ids(0, 5000), rows());
        write("in1", "id\n" + lines(0, 4000) + lines(10_000, 12_000));
        List<Integer> again = new ArrayList<>(ids(0, 4000));
        again.addAll(ids(10_000, 12_000));
        assertEquals(again, rows());
    }

    @Test
    void aFileThatIsCutShortBeginsAgain() throws IOException {
        write("in1", "id\n" + lines(0, 50));
        assertEquals(ids(0, 50), rows());
        write("in1", "id\n7\n");
        assertEquals(List.of(7), rows());
        assertEquals(List.of(), scan.rejections(), "as rotation by copying does");
    }

    @Test
    void aPackedFileThatIsCopiedSlowlyGivesEachRowOnce() throws IOException {
        byte[] all = packed("id\n" + lines(0, 20_000));
        List<Integer> rows = new ArrayList<>();
        for (int part = 1; part <= 5; part++) {
            Files.write(folder.resolve("in1.gz"), Arrays.copyOf(all, all.length * part / 5));
            rows.addAll(rows());
        }
        assertEquals(ids(0, 20_000), rows);
    }

    @Test
    void aBadFileIsSetAsideTheOthersGoOnAndItIsTriedWhenItChanges() throws IOException {
        write("in1", "id\n" + lines(0, 10));
        write("in2", "other,columns\n1,2\n");
        Files.write(folder.resolve("in3.gz"), "no gzip".getBytes(StandardCharsets.UTF_8));
        byte[] damaged = packed("id\n" + lines(0, 50_000));
        damaged[damaged.length - 6] ^= 0x55; // of the sum at its end
        Files.write(folder.resolve("in4.gz"), damaged);
        Files.createDirectory(folder.resolve("in5"));
        List<Integer> rows = rows();
        assertTrue(rows.containsAll(ids(0, 10)), "the good file");
        assertEquals(3, scan.rejections().size(), scan.rejections().toString());
        assertTrue(
                scan.rejections().stream().allMatch(text -> text.contains("set aside")),
                scan.rejections().toString());
        append("in1", lines(10, 20));
        assertEquals(ids(10, 20), rows());
        assertEquals(3, scan.rejections().size(), "once each");
        write("in2", "id\n77\n");
        Files.write(folder.resolve("in3.gz"), packed("id\n88\n"));
        assertEquals(List.of(77, 88), rows().stream().sorted().toList());
        assertEquals(3, scan.rejections().size());
    }

    @Test
    void aFileThatBeginsWithNeitherAHeaderNorARecordIsSetAsideToo() throws IOException {
        reader.close();
        open("auto");
        scan.failing();
        write("in1", "id\n" + lines(0, 10));
        write("in2", lines(10, 20)); // without a header
        write("in3", "other\n1\n");
        Files.write(folder.resolve("in4"), new byte[] {1, -1, 0, 7, 10, 9});
        assertEquals(ids(0, 20), rows().stream().sorted().toList());
        assertEquals(2, scan.rejections().size(), scan.rejections().toString());
        write("in3", "id\n77\n");
        assertEquals(List.of(77), rows());
        append("in1", "no number\n"); // a bad record
        assertThrows(MillraceException.class, this::rows);
    }

    @Test
    void aFileReplacedWhileItIsReadIsReadToItsEnd() throws IOException {
        write("in1", "id\n" + lines(0, 5000));
        List<Integer> rows = new ArrayList<>();
        while (rows.size() < 100) {
            reader.poll().ifPresent(polled -> {
                try (Batch batch = polled) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        rows.add(Integer.parseInt(FileScan.text(batch, row)));
                    }
                }
            });
            nanos[0] += 600_000_000;
        }
        Files.move(
                write("other", "id\n" + lines(6000, 6010)), folder.resolve("in1"), StandardCopyOption.REPLACE_EXISTING);
        rows.addAll(rows());
        List<Integer> expected = new ArrayList<>(ids(0, 5000));
        expected.addAll(ids(6000, 6010));
        assertEquals(expected, rows);
    }

    @Test
    void manyFilesGrowOneAfterTheOther() throws IOException {
        for (int file = 0; file < 600; file++) {
            write("in" + file, "id\n" + file + "\n");
        }
        assertEquals(ids(0, 600), rows().stream().sorted().toList());
        for (int file = 0; file < 600; file += 7) {
            append("in" + file, (1000 + file) + "\n");
        }
        assertEquals(
                IntStream.range(0, 600)
                        .filter(i -> i % 7 == 0)
                        .map(i -> 1000 + i)
                        .boxed()
                        .toList(),
                rows().stream().sorted().toList());
        assertEquals(List.of(), scan.rejections());
    }
}
