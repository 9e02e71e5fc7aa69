package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.file.SketchFileReader;
import dev.millrace.sketch.file.SketchFileWriter;
import dev.millrace.sketch.file.SketchFiles;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of segments that are cut, changed, appended to, and thinned out. */
@Tag("long")
class SketchFileTest {
    private static final int ROWS = 10; // of a segment
    private static final int HEADER = 16;

    @TempDir
    Path folder;

    /** Segments whose range grows now and then, so that they refer to versions of several others. */
    private static List<byte[]> segments(int count, int firstRow) {
        List<byte[]> segments = new ArrayList<>();
        StreamEncoder encoder = new StreamEncoder(
                SketchSchema.of(Feature.number("v", Bound.ofRange(.01))),
                EncoderOptions.defaults().withSegmentRows(ROWS).announceEvery(0),
                segment -> segments.add(segment.bytes()));
        for (int row = firstRow; row < firstRow + count * ROWS; row++) {
            encoder.row(row).number(0, row % 10 * (1 + row / 300));
        }
        encoder.flush();
        return segments;
    }

    private Path write(int count) {
        Path path = folder.resolve("a.sketch");
        new SketchFile(false, segments(count, 0)).write(path);
        return path;
    }

    private static int rows(Path path) {
        int[] rows = {0};
        SketchFile.read(path).forEach((bytes, sketch) -> {
            assertEquals(rows[0], sketch.times().at(0));
            rows[0] += sketch.rows();
        });
        return rows[0];
    }

    private static MillraceException damaged(Path path) {
        MillraceException error = assertThrows(MillraceException.class, () -> SketchFile.read(path));
        assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
        assertTrue(error.getMessage().contains(path.getFileName().toString()), error.getMessage());
        return error;
    }

    /** Where records begin. */
    private static List<Integer> records(byte[] file) {
        List<Integer> places = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int at = HEADER;
        while (in.getInt(at) >>> 30 != 2) {
            places.add(at);
            at += 8 + (in.getInt(at) & (1 << 30) - 1);
        }
        places.add(at);
        return places;
    }

    @Test
    void aFileThatIsCutAnywhereIsFoundAndItsWholePrefixRecovered() throws IOException {
        byte[] whole = Files.readAllBytes(write(12));
        List<Integer> places = records(whole);
        Path cut = folder.resolve("cut.sketch");
        for (int length = HEADER; length < whole.length; length++) {
            Files.write(cut, java.util.Arrays.copyOf(whole, length));
            assertTrue(damaged(cut).getMessage().contains("cut"), "at " + length);
            assertThrows(
                    MillraceException.class, () -> SketchFileReader.open(cut).close());
            int kept = 0;
            for (int place = 1; place < places.size(); place++) {
                kept += places.get(place) <= length ? 1 : 0;
            }
            assertEquals(kept, SketchFiles.recover(cut).segments());
            assertEquals(kept * ROWS, rows(cut));
            try (SketchFileReader reader = SketchFileReader.open(cut)) {
                assertEquals(kept, reader.segments());
            }
        }
        assertEquals(new SketchFiles.Recovered(12, 0), SketchFiles.recover(write(12)));
    }

    @Test
    void segmentsThatAreMissingExchangedOrOfAnotherFileAreFoundAndNamed() throws IOException {
        Path path = write(12);
        byte[] whole = Files.readAllBytes(path);
        List<Integer> places = records(whole);
        ByteArrayOutputStream missing = new ByteArrayOutputStream();
        missing.write(whole, 0, places.get(4));
        missing.write(whole, places.get(5), whole.length - places.get(5));
        Files.write(path, missing.toByteArray());
        assertTrue(
                damaged(path).getMessage().contains("segment 5"), damaged(path).getMessage());
        ByteArrayOutputStream exchanged = new ByteArrayOutputStream();
        exchanged.write(whole, 0, places.get(6));
        exchanged.write(whole, places.get(7), places.get(8) - places.get(7));
        exchanged.write(whole, places.get(6), places.get(7) - places.get(6));
        exchanged.write(whole, places.get(8), whole.length - places.get(8));
        Files.write(path, exchanged.toByteArray());
        assertTrue(
                damaged(path).getMessage().contains("segment 7"), damaged(path).getMessage());
        assertEquals(6, SketchFiles.recover(path).segments());
        assertEquals(6 * ROWS, rows(path));
        byte[] other = Files.readAllBytes(write(12));
        System.arraycopy(other, places.get(2), whole, places.get(2), places.get(3) - places.get(2));
        Files.write(path, whole);
        assertTrue(
                damaged(path).getMessage().contains("segment 3"), damaged(path).getMessage());
    }

    @Test
    void noChangedByteOfAFileIsRead() throws IOException {
        byte[] whole = Files.readAllBytes(write(4));
        Path path = folder.resolve("changed.sketch");
        Random random = new Random(1);
        for (int at = 0; at < whole.length; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(path, changed);
            assertThrows(MillraceException.class, () -> SketchFile.read(path), "byte " + at);
        }
    }

    @Test
    void appendingGoesOnBehindWhatIsThereAndACrashInItLosesNothing() throws IOException {
        Path path = write(10);
        byte[] before = Files.readAllBytes(path);
        try (SketchFileWriter writer = SketchFileWriter.append(path)) {
            segments(300, 100).forEach(writer::add);
        }
        byte[] after = Files.readAllBytes(path);
        assertArrayEquals(before, java.util.Arrays.copyOf(after, before.length));
        assertEquals(3100, rows(path));
        Files.write(path, java.util.Arrays.copyOf(after, before.length + 1000));
        damaged(path);
        SketchFiles.Recovered recovered = SketchFiles.recover(path);
        assertTrue(recovered.segments() > 10, recovered.toString());
        assertEquals(recovered.segments() * ROWS, rows(path));
    }

    @Test
    void aStretchOfTimeIsReadWithoutWhatIsBeforeIt() throws IOException {
        Path path = write(1000);
        byte[] file = Files.readAllBytes(path);
        file[records(file).get(3) + 20] ^= 1; // in the first block, which is not asked for
        Files.write(path, file);
        try (SketchFileReader reader = SketchFileReader.open(path)) {
            assertEquals(10_000, reader.rows());
            List<Long> starts = new ArrayList<>();
            reader.during(
                    7995, 8010, (bytes, sketch) -> starts.add(sketch.times().at(0)));
            assertEquals(List.of(7990L, 8000L, 8010L), starts);
            assertThrows(MillraceException.class, () -> reader.during(0, 5, (bytes, sketch) -> {}));
        }
    }

    @Test
    void retentionAndDeletionKeepTheRestReadable() {
        Path path = write(600);
        assertEquals(290, SketchFiles.keep(path, stretch -> stretch.highTicks() >= 2900));
        assertEquals(10, SketchFiles.keep(path, stretch -> stretch.highTicks() < 4000 || stretch.lowTicks() >= 4100));
        List<Long> starts = new ArrayList<>();
        SketchFile.read(path)
                .forEach((bytes, sketch) -> starts.add(sketch.times().at(0)));
        assertEquals(300, starts.size());
        assertEquals(2900, starts.get(0));
        assertFalse(starts.contains(4050L));
        assertTrue(starts.contains(5990L));
    }

    @Test
    void aFileOfTheFirstFormatIsWrittenAnewWhenAsked() throws IOException {
        Path old = Path.of("src", "test", "resources", "formats", "1", "columns.sketch");
        Path path = folder.resolve("old.sketch");
        Files.copy(old, path);
        MillraceException error = assertThrows(MillraceException.class, () -> SketchFileWriter.append(path));
        assertTrue(error.hint().orElse("").contains("recover"), error.toString());
        SketchFiles.recover(path);
        List<Sketch> before = new ArrayList<>();
        SketchFile.read(old).forEach((bytes, sketch) -> before.add(sketch));
        List<Sketch> after = new ArrayList<>();
        SketchFile.read(path).forEach((bytes, sketch) -> after.add(sketch));
        assertEquals(before.size(), after.size());
        assertEquals(before.get(4).times().at(9), after.get(4).times().at(9));
    }
}
