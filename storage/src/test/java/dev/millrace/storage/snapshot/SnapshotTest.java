package dev.millrace.storage.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotTest {
    private static final String NAME = "s.snapshot";

    private final SimulatedDisk disk = new SimulatedDisk(1);

    private static byte[] random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(SnapshotReader reader, String section, int piece) {
        SectionReader in = reader.read(reader.section(section).orElseThrow());
        ByteBuffer all = ByteBuffer.allocate((int) in.remaining());
        while (in.remaining() > 0) {
            all.limit(Math.min(all.capacity(), all.position() + piece));
            assertTrue(in.read(all) > 0);
        }
        assertEquals(0, in.read(ByteBuffer.allocate(1)), "it ends there");
        return all.array();
    }

    /** Two short sections and an empty one between. */
    private SnapshotFile writeSmall(SimulatedDisk to) {
        try (SnapshotWriter out = SnapshotWriter.create(to, NAME)) {
            out.section("public.t");
            out.write(ByteBuffer.wrap(random(new Random(1), 300)));
            out.section("");
            out.section("größe");
            out.write(ByteBuffer.wrap(random(new Random(2), 20)));
            return out.finish();
        }
    }

    @Test
    void sectionsOfAllLengthsAreReadInPiecesOfAllLengths() {
        for (int seed = 0; seed < 10; seed++) {
            Random random = new Random(seed);
            SimulatedDisk fresh = new SimulatedDisk(seed);
            TreeMap<String, byte[]> sections = new TreeMap<>();
            SnapshotFile file;
            try (SnapshotWriter out = SnapshotWriter.create(fresh, NAME)) {
                for (int i = random.nextInt(5); i >= 0; i--) {
                    int[] lengths = {0, 1, 1 << 20, (1 << 20) + 1, random.nextInt(3_000_000)};
                    byte[] bytes = random(random, lengths[random.nextInt(lengths.length)]);
                    sections.put("section " + i, bytes);
                    out.section("section " + i);
                    for (int from = 0; from < bytes.length; ) {
                        int count = Math.min(bytes.length - from, 1 + random.nextInt(700_000));
                        out.write(ByteBuffer.wrap(bytes, from, count));
                        from += count;
                    }
                }
                file = out.finish();
            }
            try (SnapshotReader reader = SnapshotReader.open(fresh, file)) {
                assertEquals(sections.size(), reader.sections().size());
                assertEquals(List.of(), reader.verify());
                sections.forEach((name, bytes) ->
                        assertArrayEquals(bytes, read(reader, name, 1 + random.nextInt(900_000)), name));
            }
        }
    }

    @Test
    void everyChangedByteIsFoundAndNamed() {
        SnapshotFile file = writeSmall(disk);
        byte[] bytes = disk.bytes(NAME);
        for (int at = 0; at < bytes.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) (1 << bit);
                disk.put(NAME, changed);
                String found = damage(file);
                assertTrue(found.contains(NAME), at + ": " + found);
                if (at > 32 && at < 32 + 16 + 300) {
                    assertTrue(found.contains("at byte 32: block 0 of section public.t"), found);
                }
            }
        }
    }

    private String damage(SnapshotFile file) {
        try (SnapshotReader reader = SnapshotReader.open(disk, file)) {
            return String.join(",", reader.verify());
        } catch (MillraceException e) {
            assertTrue(
                    List.of(SqlState.DATA_CORRUPTED, SqlState.CONFIG_FILE_ERROR).contains(e.sqlState()), e.toString());
            return e.getMessage();
        }
    }

    @Test
    void aFileOfAnyOtherLengthIsFound() {
        SnapshotFile file = writeSmall(disk);
        byte[] bytes = disk.bytes(NAME);
        for (int length = 0; length < bytes.length + 50; length++) {
            if (length != bytes.length) {
                disk.put(NAME, Arrays.copyOf(bytes, length));
                assertTrue(damage(file).contains(NAME), "length " + length);
            }
        }
        disk.remove(NAME);
        assertTrue(damage(file).contains(NAME + " is missing"), damage(file));
    }

    /** Each whole in itself: of another file of the same form, or of another place of this one. */
    @Test
    void blocksAndFilesInTheWrongPlaceAreFound() {
        SnapshotFile file = writeSmall(disk);
        SimulatedDisk other = new SimulatedDisk(2);
        try (SnapshotWriter out = SnapshotWriter.create(other, NAME)) {
            out.section("public.t");
            out.write(ByteBuffer.wrap(random(new Random(3), 300)));
            out.section("");
            out.section("größe");
            out.write(ByteBuffer.wrap(random(new Random(2), 20)));
            assertEquals(file.bytes(), out.finish().bytes());
        }
        byte[] bytes = disk.bytes(NAME);
        byte[] mixed = bytes.clone();
        System.arraycopy(other.bytes(NAME), 32, mixed, 32, 316);
        disk.put(NAME, mixed);
        assertTrue(damage(file).contains("the blocks of section public.t are others"), damage(file));
        disk.put(NAME, other.bytes(NAME));
        assertTrue(damage(file).contains("it is not the snapshot of this name"), damage(file));
    }

    @Test
    void whatIsNotFinishedIsRemovedAndAFullDiskIsTold() throws Exception {
        disk.setCapacity(2_000_000);
        try (SnapshotWriter out = SnapshotWriter.create(disk, NAME)) {
            out.section("a");
            MillraceException e =
                    assertThrows(MillraceException.class, () -> out.write(ByteBuffer.allocate(3_000_000)));
            assertEquals(SqlState.DISK_FULL, e.sqlState());
            assertTrue(e.getMessage().startsWith("cannot write " + NAME), e.getMessage());
        }
        assertEquals(List.of(), disk.list());
        assertFalse(disk.usedBytes() > 0);
    }

    @Test
    void aRealFileIsReadAsItWasWritten(@TempDir Path directory) {
        byte[] bytes = random(new Random(5), 2_500_000);
        RealDisk real = new RealDisk(directory);
        SnapshotFile file;
        try (SnapshotWriter out = SnapshotWriter.create(real, NAME)) {
            out.section("a");
            out.write(ByteBuffer.wrap(bytes));
            file = out.finish();
        }
        try (SnapshotReader reader = SnapshotReader.open(real, file)) {
            assertArrayEquals(bytes, read(reader, "a", 123_456));
        }
    }
}
