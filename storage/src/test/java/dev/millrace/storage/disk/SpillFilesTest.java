package dev.millrace.storage.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillFilesTest {
    @TempDir
    private Path directory;

    private Path spill() {
        Assumptions.assumeFalse(
                Boolean.getBoolean("millrace.memory.checked"), "what is not the allocator's is refused");
        return directory.resolve("spill");
    }

    @Test
    void piecesKeepWhatIsWrittenToThemAndDoNotOverlap() throws IOException {
        Path spill = spill();
        try (SpillFiles files = SpillFiles.in(spill)) {
            Random random = new Random(7);
            Map<Long, long[]> live = new HashMap<>(); // by address: bytes, what is in them
            for (int step = 0; step < 3000; step++) {
                if (live.size() < 20 || random.nextInt(100) < 49) {
                    long bytes = 4096L << random.nextInt(12);
                    long address = files.allocate(bytes);
                    assertEquals(0, address % 4096);
                    long mark = random.nextLong();
                    for (long at = 0; at < bytes; at += 2048) {
                        Memory.putLong(address + at, mark);
                    }
                    live.put(address, new long[] {bytes, mark});
                } else {
                    List<Long> all = new ArrayList<>(live.keySet());
                    long address = all.get(random.nextInt(all.size()));
                    long[] is = live.remove(address);
                    for (long at = 0; at < is[0]; at += 2048) {
                        assertEquals(is[1], Memory.getLong(address + at));
                    }
                    files.free(address);
                }
            }
            live.keySet().forEach(files::free);
            assertEquals(SpillFiles.FILE_BYTES, files.bytes(), "one file is kept, whole");
            long whole = files.allocate(SpillFiles.FILE_BYTES);
            assertEquals(SpillFiles.FILE_BYTES, files.bytes());
            files.free(whole);
        }
    }

    @Test
    void whatIsLargeHasAFileThatGoesWithIt() throws IOException {
        try (SpillFiles files = SpillFiles.in(spill())) {
            long large = files.allocate(2 * SpillFiles.FILE_BYTES);
            Memory.putLong(large + 2 * SpillFiles.FILE_BYTES - 8, 42);
            assertEquals(42, Memory.getLong(large + 2 * SpillFiles.FILE_BYTES - 8));
            assertEquals(2 * SpillFiles.FILE_BYTES, files.bytes());
            files.free(large);
            assertEquals(0, files.bytes());
            assertThrows(IOException.class, () -> files.allocate(1L << 40));
            assertThrows(IllegalStateException.class, () -> files.free(large));
        }
    }

    /** So a process that is killed leaves nothing behind that takes room. */
    @Test
    void noFileHasANameWhileItIsUsed() throws IOException {
        Path spill = spill();
        try (SpillFiles files = SpillFiles.in(spill)) {
            files.allocate(1 << 20);
            try (Stream<Path> names = Files.list(spill)) {
                assertEquals(List.of(), names.toList());
            }
        }
        assertFalse(Files.exists(spill));
    }

    @Test
    void whatAnEarlierProcessLeftIsRemoved() throws IOException {
        Path spill = spill();
        Files.createDirectories(spill);
        Files.write(spill.resolve("spill-17"), new byte[100]);
        SpillFiles.in(spill).close();
        assertFalse(Files.exists(spill));
    }

    @Test
    void aThreadThatIsInterruptedGetsItsPieceAndStaysInterrupted() throws IOException {
        try (SpillFiles files = SpillFiles.in(spill())) {
            Thread.currentThread().interrupt();
            long piece = files.allocate(1 << 20);
            assertTrue(Thread.interrupted());
            Memory.putLong(piece, 1);
        }
    }

    @Test
    void whereNoDirectoryCanBeNothingIsTakenAndAllGoesOn() throws IOException {
        Path spill = spill();
        Files.write(spill, new byte[1]); // a file is in the way
        try (SpillFiles files = SpillFiles.in(spill)) {
            assertThrows(IOException.class, () -> files.allocate(1 << 20));
            assertEquals(0, files.bytes());
            Files.delete(spill);
            files.free(files.allocate(1 << 20));
        }
    }
}
