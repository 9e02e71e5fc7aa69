package dev.millrace.storage.manifest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.simulation.DiskFault;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.storage.snapshot.SectionReader;
import dev.millrace.storage.snapshot.SnapshotFile;
import dev.millrace.storage.snapshot.SnapshotReader;
import dev.millrace.storage.snapshot.SnapshotWriter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class ManifestTest {
    /** A file that says by its contents in which try it was written. */
    private static SnapshotFile write(SimulatedDisk disk, Manifest manifest, long tried) {
        try (SnapshotWriter out = SnapshotWriter.create(disk, manifest.newFileName())) {
            out.section("try");
            out.write(ByteBuffer.allocate(8).putLong(0, tried));
            return out.finish();
        }
    }

    private static long tried(SimulatedDisk disk, SnapshotFile file) {
        try (SnapshotReader reader = SnapshotReader.open(disk, file)) {
            SectionReader in = reader.read(reader.section("try").orElseThrow());
            ByteBuffer bytes = ByteBuffer.allocate(8);
            assertEquals(8, in.read(bytes));
            return bytes.getLong(0);
        }
    }

    /** What counts after a crash is the last checkpoint that was published, or one that was being published then, whole. */
    @Test
    void afterACrashTheLastPublishedCheckpointIsThereWithAllItsFiles() throws Exception {
        Map<DiskFault, Integer> faults = new EnumMap<>(DiskFault.class);
        int published = 0;
        for (long seed = 1; seed <= 50; seed++) {
            Random random = new Random(seed);
            SimulatedDisk disk = new SimulatedDisk(seed);
            long certain = 0; // the log number of the last checkpoint that lasts
            Set<Long> possible = new HashSet<>(Set.of(0L)); // of those that may count
            long tries = 0;
            for (int life = 0; life < 6; life++) {
                try {
                    Manifest manifest = Manifest.open(disk);
                    Checkpoint newest = manifest.newest();
                    assertTrue(
                            possible.contains(newest.logNumber()), "seed " + seed + ": " + newest + " of " + possible);
                    assertTrue(newest.logNumber() >= certain, "seed " + seed + ": " + newest + " after " + certain);
                    for (SnapshotFile file : newest.files()) {
                        assertTrue(tried(disk, file) <= newest.logNumber());
                    }
                    assertEquals(
                            1 + newest.files().size(),
                            disk.list().size(),
                            disk.list().toString());
                    certain = newest.logNumber();
                    disk.killIn(random.nextInt(80));
                    disk.chances().forceErrorOneIn = random.nextInt(3) == 0 ? 10 : 0;
                    while (true) {
                        tries++;
                        try {
                            List<SnapshotFile> files =
                                    new ArrayList<>(manifest.newest().files());
                            if (files.size() > 2) {
                                files.remove(random.nextInt(files.size()));
                            }
                            for (int i = random.nextInt(3); i >= 0; i--) {
                                files.add(write(disk, manifest, tries));
                            }
                            possible.add(tries);
                            manifest.publish(tries, files);
                            certain = tries;
                            published++;
                        } catch (MillraceException e) {
                            assertEquals(SqlState.IO_ERROR, e.sqlState());
                        }
                    }
                } catch (SimulatedCrash e) {
                    disk.calm();
                    disk = disk.crash();
                }
            }
            disk.happened().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
        }
        assertTrue(published > 170, published + " published");
        assertTrue(
                faults.keySet()
                        .containsAll(List.of(
                                DiskFault.KILL, DiskFault.LOST_NAME, DiskFault.FORCE_ERROR, DiskFault.LOST_WRITE)),
                faults.toString());
    }

    @Test
    void everyDamageToFilesOfACheckpointIsNamed() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Manifest manifest = Manifest.open(disk);
        manifest.publish(5, List.of(write(disk, manifest, 1), write(disk, manifest, 2)));
        assertTrue(Manifest.verify(disk).stream().allMatch(FileReport::isWhole));
        for (String name : disk.list()) {
            byte[] bytes = disk.bytes(name);
            for (int at = 0; at < bytes.length; at++) {
                SimulatedDisk damaged = disk.copy();
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) (1 << at % 8);
                damaged.put(name, changed);
                assertTrue(damage(damaged).contains(name), name + " at " + at);
            }
            for (int length = 0; length < bytes.length; length++) {
                SimulatedDisk damaged = disk.copy();
                damaged.put(name, Arrays.copyOf(bytes, length));
                assertTrue(damage(damaged).contains(name), name + " cut to " + length);
                MillraceException e = assertThrows(MillraceException.class, () -> Manifest.open(damaged));
                assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
                assertTrue(e.getMessage().contains(name), e.getMessage());
            }
            SimulatedDisk without = disk.copy();
            without.remove(name);
            assertTrue(damage(without).contains(name), name);
            MillraceException e = assertThrows(MillraceException.class, () -> Manifest.open(without));
            assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
            assertTrue(e.getMessage().contains(name + " is missing"), e.getMessage());
        }
    }

    @Test
    void aLaterVersionSaysSo() {
        SimulatedDisk disk = new SimulatedDisk(1);
        Manifest.open(disk);
        byte[] bytes = disk.bytes("manifest");
        bytes[8] = 2;
        disk.put("manifest", bytes);
        MillraceException e = assertThrows(MillraceException.class, () -> Manifest.open(disk));
        assertEquals(SqlState.CONFIG_FILE_ERROR, e.sqlState());
        assertTrue(e.hint().orElse("").contains("the version of Millrace that wrote it"));
    }

    @Test
    void filesOfOthersAreLeftAlone() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.put("notes.txt", new byte[3]);
        Manifest manifest = Manifest.open(disk);
        SnapshotFile first = write(disk, manifest, 1);
        manifest.publish(1, List.of(first));
        SnapshotFile second = write(disk, manifest, 2);
        manifest.publish(2, List.of(second));
        assertEquals(List.of(second.name(), "manifest", "notes.txt"), disk.list());
    }

    private static String damage(SimulatedDisk disk) {
        return Manifest.verify(disk).stream()
                .flatMap(file -> file.damage().stream())
                .toList()
                .toString();
    }
}
