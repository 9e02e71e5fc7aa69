package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.Options;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.datagen.DatagenSourceFactory;
import dev.millrace.connectors.datagen.LinearRoadSourceFactory;
import dev.millrace.connectors.nexmark.NexmarkSourceFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers that are given up after some rows, and others that go on where they were: together they give each row once. */
@Timeout(60)
class FilePositionsTest {
    private static final Schema SCHEMA = FileScan.schema("id", DataType.BIGINT, "ts", DataType.TIMESTAMP);

    @TempDir
    private Path folder;

    private final BufferAllocator allocator = new RootAllocator();
    private final TestClock clock = new TestClock(0);
    private final FileScan scan = new FileScan(allocator).batchRows(7).clock(clock);

    @AfterEach
    void nothingIsLeft() {
        allocator.close();
    }

    /** Some bad records and blank lines, and a quoted line end, among the rows. */
    private void writeCsv(String name, int from, int to) throws IOException {
        StringBuilder text = new StringBuilder("ts,id\n");
        for (int id = from; id < to; id++) {
            text.append("\"2024-01-01 00:00:")
                    .append(id % 60 / 10)
                    .append(id % 10)
                    .append("\",")
                    .append(id)
                    .append('\n');
            if (id % 11 == 0) {
                text.append("not a time,\"x\ny\"\n\n");
            }
        }
        Files.writeString(folder.resolve(name), text);
    }

    private void writeJson(String name, int from, int to) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int id = from; id < to; id++) {
            text.append("{\"id\": ")
                    .append(id)
                    .append(", \"ts\": \"2024-01-01 00:00:0")
                    .append(id % 10)
                    .append("\"}\n");
            if (id % 13 == 0) {
                text.append("\nnonsense\n");
            }
        }
        Files.writeString(folder.resolve(name), text);
    }

    private Source files(String format, String... more) {
        List<String> options = new ArrayList<>(List.of("path", folder + "/in*", "format", format));
        options.addAll(List.of(more));
        return FileScan.source(SCHEMA, options.toArray(String[]::new));
    }

    private static ScanRequest request(int parallelism) {
        return new ScanRequest(List.of(0, 1), List.of(), parallelism);
    }

    private static ScanRequest byTime(int parallelism) {
        return new ScanRequest(
                List.of(0, 1),
                List.of(),
                parallelism,
                Optional.of(new EventTime(
                        List.of(1),
                        batch -> batch.rowCount() == 0
                                ? OptionalLong.empty()
                                : OptionalLong.of(Memory.getLong(batch.dataAddress(0))),
                        batch -> OptionalLong.empty())));
    }

    /** Gives up after each few batches; checks that all rows come, each once. */
    private void goOnAgainAndAgain(Source source, ScanRequest request, int seed) {
        goOnAgainAndAgain(source, source, request, seed);
    }

    /** @param same gives the rows that the other has, without waiting for time to go by */
    private void goOnAgainAndAgain(Source same, Source source, ScanRequest request, int seed) {
        List<String> expected = new ArrayList<>();
        scan.each(same, request, batch -> add(batch, expected));
        SplittableRandom random = new SplittableRandom(seed);
        List<String> found = new ArrayList<>();
        List<SourceReader> readers = source.open(request, scan);
        int reopened = 0;
        boolean ended = false;
        while (!ended) {
            assertTrue(reopened < 10_000, "the readers come to no end");
            for (SourceReader reader : readers) {
                for (int polls = random.nextInt(4); polls > 0; polls--) {
                    reader.poll().ifPresent(batch -> {
                        add(batch, found);
                        batch.close();
                    });
                }
                clock.advance(300_000);
            }
            ended = readers.stream().allMatch(SourceReader::isFinished);
            List<Part> parts = readers.stream().map(SourceReader::part).toList();
            List<SourcePosition> positions = readers.stream()
                    .map(reader -> reader.position().orElseThrow())
                    .map(position -> new SourcePosition(position.bytes()))
                    .toList();
            readers.forEach(SourceReader::close);
            readers = source.reopen(request, positions, scan);
            assertEquals(positions.size(), readers.size());
            assertEquals(
                    parts.stream().map(Part::number).toList(),
                    readers.stream().map(SourceReader::part).map(Part::number).toList());
            reopened++;
        }
        readers.forEach(SourceReader::close);
        assertTrue(reopened > 5, reopened + " times");
        assertEquals(
                expected.stream().sorted().toList(), found.stream().sorted().toList());
    }

    private static void add(Batch batch, List<String> into) {
        for (int row = 0; row < batch.rowCount(); row++) {
            into.add(FileScan.text(batch, row));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void filesAreReadOn(int readers) throws IOException {
        for (int file = 0; file < 5; file++) {
            writeCsv("in" + file, 100 * file, 100 * file + 90);
        }
        goOnAgainAndAgain(files("csv", "header", "true"), request(readers), readers);
        goOnAgainAndAgain(files("csv", "header", "true"), byTime(readers), readers);
        goOnAgainAndAgain(
                files("csv", "header", "true"),
                files("csv", "header", "true", "pace", "20"),
                request(readers),
                readers);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void linesOfJsonAreReadOn(int readers) throws IOException {
        for (int file = 0; file < 5; file++) {
            writeJson("in" + file, 100 * file, 100 * file + 90);
        }
        goOnAgainAndAgain(files("json"), request(readers), readers);
        goOnAgainAndAgain(files("json"), byTime(readers), readers);
    }

    /** Gzip is unpacked again up to where the reader was; Latin-1 has fewer bytes than what is made of it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void packedFilesAndLatin1AreReadOn(int readers) throws IOException {
        for (int file = 0; file < 4; file++) {
            String name = "in" + file;
            writeCsv(name, 100 * file, 100 * file + 90);
            String text = Files.readString(folder.resolve(name)).replace("not a time", "k\u00e9in \u00dfeit\u00e9");
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            if (file % 2 == 0) {
                Files.write(folder.resolve(name), bytes);
            } else {
                Files.delete(folder.resolve(name));
                try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(folder.resolve(name + ".gz")))) {
                    out.write(bytes);
                }
            }
        }
        goOnAgainAndAgain(files("csv", "header", "true", "encoding", "latin1"), request(readers), readers);
    }

    @Test
    void aPackedFileThatHasBecomeShorterIsNotReadOn() throws IOException {
        Path file = folder.resolve("in.gz");
        StringBuilder rows = new StringBuilder();
        for (int id = 0; id < 90; id++) {
            rows.append("{\"id\": ").append(id).append("}\n");
        }
        pack(file, rows.toString());
        Source source = files("json");
        SourcePosition position;
        try (SourceReader reader = source.open(request(1), scan).get(0)) {
            for (int batches = 0; batches < 5; batches++) {
                reader.poll().ifPresent(Batch::close);
            }
            position = reader.position().orElseThrow();
        }
        pack(file, "{\"id\": 1}\n");
        MillraceException other =
                assertThrows(MillraceException.class, () -> source.reopen(request(1), List.of(position), scan));
        assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, other.sqlState());
    }

    private static void pack(Path file, String text) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void generatedRowsGoOn() {
        Map<String, String> of500 = Map.of("rows", "500");
        goOnAgainAndAgain(new DatagenSourceFactory().create(SCHEMA, new Options(of500)), request(3), 1);
        Source cars = new LinearRoadSourceFactory().create(new Schema(List.of()), new Options(Map.of("events", "500")));
        goOnAgainAndAgain(cars, request(2), 2);
        Source bids = new NexmarkSourceFactory()
                .create(new Schema(List.of()), new Options(Map.of("table", "bid", "events", "500")));
        goOnAgainAndAgain(bids, request(2), 3);
    }

    @Test
    void aFileThatIsAnotherIsNotReadOn() throws IOException {
        writeCsv("in", 0, 90);
        Source source = files("csv", "header", "true");
        SourcePosition position;
        try (SourceReader reader = source.open(request(1), scan).get(0)) {
            for (int polls = 0; polls < 5; polls++) {
                reader.poll().ifPresent(Batch::close);
            }
            position = reader.position().orElseThrow();
        }
        writeCsv("in", 1, 91);
        MillraceException other =
                assertThrows(MillraceException.class, () -> source.reopen(request(1), List.of(position), scan));
        assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, other.sqlState(), other.getMessage());
        Files.delete(folder.resolve("in"));
        assertThrows(MillraceException.class, () -> source.reopen(request(1), List.of(position), scan));
    }

    @Test
    void aDamagedPositionIsRefused() throws IOException {
        writeCsv("in", 0, 90);
        Source source = files("csv", "header", "true");
        SourcePosition position;
        try (SourceReader reader = source.open(request(1), scan).get(0)) {
            reader.poll().ifPresent(Batch::close);
            position = reader.position().orElseThrow();
        }
        byte[] whole = position.bytes();
        for (int length = 0; length < whole.length; length++) {
            SourcePosition cut = new SourcePosition(Arrays.copyOf(whole, length));
            MillraceException damaged =
                    assertThrows(MillraceException.class, () -> source.reopen(request(1), List.of(cut), scan));
            assertEquals(SqlState.DATA_CORRUPTED, damaged.sqlState());
        }
    }

    /** Counts of what follows, below none and beyond what is there. */
    @Test
    void aPositionThatCountsWhatIsNotThereIsRefused() throws IOException {
        writeJson("in", 0, 90);
        Source source = files("json");
        for (int count : new int[] {-1, Integer.MIN_VALUE, 1, Integer.MAX_VALUE}) {
            SourcePosition position = SourcePosition.of("files", 1, out -> {
                out.writeLong(0);
                out.writeBoolean(false);
                out.writeInt(count);
            });
            MillraceException damaged =
                    assertThrows(MillraceException.class, () -> source.reopen(request(1), List.of(position), scan));
            assertEquals(SqlState.DATA_CORRUPTED, damaged.sqlState(), damaged.getMessage());
            assertTrue(damaged.getMessage().contains(count + " where at most 0 can be"), damaged.getMessage());
        }
    }
}
