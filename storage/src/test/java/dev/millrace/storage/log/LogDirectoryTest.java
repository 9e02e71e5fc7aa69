package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogDirectoryTest {
    private static final WriteAheadLogOptions OPTIONS =
            WriteAheadLogOptions.standard().withSizes(8192, 1 << 20).simulated(new StandingClock(), () -> 1);

    /** Fails to force names when the test says so. */
    private static final class NamesThatFail implements Disk {
        private final SimulatedDisk disk;
        private int failIn = -1; // calls of forceNames until one fails; -1 for never

        NamesThatFail(SimulatedDisk disk) {
            this.disk = disk;
        }

        @Override
        public DiskFile create(String name) throws IOException {
            return disk.create(name);
        }

        @Override
        public DiskFile open(String name) throws IOException {
            return disk.open(name);
        }

        @Override
        public void rename(String from, String to) throws IOException {
            disk.rename(from, to);
        }

        @Override
        public void delete(String name) throws IOException {
            disk.delete(name);
        }

        @Override
        public List<String> list() throws IOException {
            return disk.list();
        }

        @Override
        public boolean has(String name) throws IOException {
            return disk.has(name);
        }

        @Override
        public void forceNames() throws IOException {
            if (failIn >= 0 && failIn-- == 0) {
                throw new IOException("names cannot be forced");
            }
            disk.forceNames();
        }

        @Override
        public Disk directory(String name) throws IOException {
            return disk.directory(name);
        }

        @Override
        public List<String> directories() throws IOException {
            return disk.directories();
        }

        @Override
        public void removeDirectory(String name) throws IOException {
            disk.removeDirectory(name);
        }

        @Override
        public String path(String name) {
            return disk.path(name);
        }
    }

    /**
     * Segment 3 is made twice: on disk it goes on from segment 2, as far as the process sees, from segment 1. Who opens the log must not
     * remove segment 2 before what is seen lasts.
     */
    @Test
    void nothingIsRemovedBecauseOfNamesThatDoNotLastYet() throws Exception {
        LogPlace inFirst = new LogPlace(1, SegmentHeader.BYTES);
        LogPlace inSecond = new LogPlace(2, SegmentHeader.BYTES);
        for (int seed = 0; seed < 300; seed++) {
            SimulatedDisk disk = new SimulatedDisk(seed);
            NamesThatFail failing = new NamesThatFail(disk);
            LogDirectory directory = LogDirectory.open(failing, OPTIONS, new LogRoom());
            directory.create(LogPlace.BEGINNING, 0, LogPlace.BEGINNING);
            directory.create(inFirst, 0, inFirst);
            failing.failIn = 1; // the segment's name lasts, that of the state does not
            assertThrows(IOException.class, () -> directory.create(inSecond, 0, inSecond));
            failing.failIn = 0;
            assertThrows(IOException.class, () -> directory.create(inFirst, 0, inFirst));
            disk.killIn(seed % 8);
            try {
                LogDirectory.open(disk, OPTIONS, new LogRoom());
            } catch (SimulatedCrash e) {
                assertEquals("the process was killed", e.getMessage());
            }
            LogDirectory.open(disk.crash(), OPTIONS, new LogRoom());
        }
    }
}
