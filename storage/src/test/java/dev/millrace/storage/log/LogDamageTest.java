package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever is changed, cut off or taken away of a log is found and named, and never answered from. */
@Tag("long")
class LogDamageTest {
    private static final int RECORDS = 40;

    private final SimulatedDisk disk = new SimulatedDisk(7);
    private final List<String> names = new ArrayList<>();
    private String newest = "";
    private long newestEnd;

    private static WriteAheadLogOptions options() {
        return WriteAheadLogOptions.standard().withSizes(8192, 1 << 20).simulated(new StandingClock(), () -> 4711);
    }

    private static ByteBuffer record(int i) {
        ByteBuffer bytes = ByteBuffer.allocate(i % 7 == 0 ? 1500 : 100 + i);
        while (bytes.hasRemaining()) {
            bytes.put((byte) (i + bytes.position()));
        }
        return bytes.flip();
    }

    /** Several segments, records over their ends, closed. */
    @BeforeEach
    void writeALog() throws Exception {
        try (WriteAheadLog log = WriteAheadLog.open(disk, options())) {
            for (int i = 1; i <= RECORDS; i++) {
                log.awaitDurable(log.append(LogMode.AWAITED, record(i)));
            }
        }
        names.addAll(disk.list());
        newest = names.get(names.size() - 1);
        newestEnd = LogState.read(disk).closedAt();
        assertTrue(names.size() >= 3, names.toString());
        assertEquals(List.of(), WriteAheadLog.verify(disk).damage());
        assertEquals(RECORDS, WriteAheadLog.verify(disk).records());
    }

    /** What is left behind a record that was forgotten is whole, also where that record ends in it. */
    @Test
    void aLogThatForgotIsWhole() {
        try (WriteAheadLog log = WriteAheadLog.open(disk, options())) {
            for (long forgotten = 1; forgotten < RECORDS; forgotten++) {
                log.forget(forgotten);
                List<Long> given = new ArrayList<>();
                RecordConsumer placed = new RecordConsumer() {
                    @Override
                    public void accept(long number, ByteBuffer bytes) {
                        throw new AssertionError("its place is given, too");
                    }

                    @Override
                    public void accept(long number, LogPlace place, ByteBuffer bytes) {
                        assertEquals(record((int) number), bytes);
                        given.add(number);
                    }
                };
                LogReport report = WriteAheadLog.verify(disk, () -> placed);
                assertEquals(List.of(), report.damage(), "after " + forgotten);
                assertTrue(given.get(0) <= forgotten + 1, given + " after " + forgotten);
                assertEquals(RECORDS, given.get(given.size() - 1));
            }
        }
    }

    /** Opens a damaged log and reads it; what is given before the damage must be true. */
    private static void read(SimulatedDisk damaged) {
        List<Long> numbers = new ArrayList<>();
        try (WriteAheadLog log = WriteAheadLog.open(damaged, options())) {
            log.replay(0, (number, bytes) -> {
                assertEquals(record((int) number), bytes);
                numbers.add(number);
            });
        } finally {
            for (int i = 0; i < numbers.size(); i++) {
                assertEquals(i + 1, numbers.get(i));
            }
        }
        assertEquals(RECORDS, numbers.size());
    }

    @Test
    void everyChangedByteIsNamedWithItsFile() throws Exception {
        int found = 0;
        for (String name : names) {
            byte[] bytes = disk.bytes(name);
            SimulatedDisk damaged = disk.copy();
            for (int at = 0; at < bytes.length; at++) {
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) (1 << at % 8);
                damaged.put(name, changed);
                LogReport report = WriteAheadLog.verify(damaged);
                if (report.damage().isEmpty()) {
                    assertTrue(isVoid(name, at), name + " at " + at);
                    assertEquals(RECORDS, report.records());
                } else {
                    found++;
                    String message = report.damage().get(0);
                    assertTrue(
                            message.contains(name) || name.equals(LogState.NAME), name + " at " + at + ": " + message);
                }
                if (at % 997 == 0 && !report.damage().isEmpty()) {
                    assertEquals(
                            SqlState.DATA_CORRUPTED.code().substring(0, 1),
                            assertThrows(MillraceException.class, () -> read(damaged.copy()))
                                    .sqlState()
                                    .code()
                                    .replace('F', 'X')
                                    .substring(0, 1));
                }
            }
            damaged.put(name, bytes);
        }
        assertTrue(found > 2 * 8000, found + " changes");
    }

    /** Whether nothing was written there: behind the end of a segment. */
    private boolean isVoid(String name, int at) throws Exception {
        if (name.equals(LogState.NAME)) {
            return false;
        }
        if (name.equals(newest)) {
            return at >= newestEnd;
        }
        long number = SegmentHeader.numberOf(name).getAsLong();
        SegmentHeader next = SegmentHeader.read(disk, LogState.read(disk).identity(), number + 1);
        return at >= next.end().offset();
    }

    @Test
    void everyFileThatIsCutShortIsNamed() {
        for (String name : names) {
            byte[] bytes = disk.bytes(name);
            for (int length = 0; length < bytes.length; length += 1 + length / 50) {
                SimulatedDisk damaged = disk.copy();
                damaged.put(name, java.util.Arrays.copyOf(bytes, length));
                LogReport report = WriteAheadLog.verify(damaged);
                assertFalse(report.damage().isEmpty(), name + " cut to " + length);
                assertTrue(
                        report.damage().get(0).contains(name), report.damage().toString());
                assertThrows(MillraceException.class, () -> read(damaged));
            }
        }
    }

    @Test
    void everyFileThatIsMissingIsNamed() {
        for (String name : names) {
            SimulatedDisk damaged = disk.copy();
            damaged.remove(name);
            assertTrue(WriteAheadLog.verify(damaged).damage().get(0).contains(name), name);
            MillraceException e = assertThrows(MillraceException.class, () -> read(damaged));
            assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
            assertTrue(e.getMessage().contains(name), e.getMessage());
        }
    }

    @Test
    void segmentsInEachOthersPlaceOrOfAnotherLogAreNamed() {
        SimulatedDisk swapped = disk.copy();
        swapped.put(names.get(1), disk.bytes(names.get(2)));
        swapped.put(names.get(2), disk.bytes(names.get(1)));
        assertTrue(assertThrows(MillraceException.class, () -> read(swapped))
                .getMessage()
                .contains("it is segment"));

        SimulatedDisk other = new SimulatedDisk(8);
        WriteAheadLogOptions foreign =
                WriteAheadLogOptions.standard().withSizes(8192, 1 << 20).simulated(new StandingClock(), () -> 4712);
        try (WriteAheadLog log = WriteAheadLog.open(other, foreign)) {
            log.append(LogMode.AWAITED, record(1));
        }
        SimulatedDisk mixed = disk.copy();
        mixed.put(names.get(1), other.bytes(names.get(1)));
        assertTrue(assertThrows(MillraceException.class, () -> read(mixed))
                .getMessage()
                .contains("of another log"));
    }

    @Test
    void aLaterVersionSaysSo() {
        for (String name : names) {
            SimulatedDisk later = disk.copy();
            byte[] bytes = disk.bytes(name);
            bytes[8] = 2;
            later.put(name, bytes);
            MillraceException e = assertThrows(MillraceException.class, () -> read(later));
            assertEquals(SqlState.CONFIG_FILE_ERROR, e.sqlState());
            assertTrue(e.getMessage().contains(name), e.getMessage());
        }
    }

    @Test
    void recordsThatWereForgottenAreMissed() {
        SimulatedDisk forgotten = disk.copy();
        try (WriteAheadLog log = WriteAheadLog.open(forgotten, options())) {
            log.forget(RECORDS);
            assertEquals(1, log.statistics().segments());
        }
        try (WriteAheadLog log = WriteAheadLog.open(forgotten, options())) {
            MillraceException e = assertThrows(MillraceException.class, () -> log.replay(0, (number, bytes) -> {}));
            assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
            log.replay(RECORDS, (number, bytes) -> {
                throw new AssertionError("record " + number + " was not asked for");
            });
        }
    }

    /** What was acknowledged last is told from a torn end by the mark behind it, though nobody closed the log. */
    @Test
    void damageToTheLastGroupOfALogThatWasNotClosedIsFound() throws Exception {
        SimulatedDisk open = new SimulatedDisk(9);
        WriteAheadLog log = WriteAheadLog.open(open, options());
        log.awaitDurable(log.append(LogMode.AWAITED, record(1)));
        String name = SegmentHeader.name(1);
        for (int at = SegmentHeader.BYTES; at < SegmentHeader.BYTES + 32 + 101; at++) {
            SimulatedDisk damaged = open.copy();
            byte[] bytes = open.bytes(name);
            bytes[at] ^= 4;
            damaged.put(name, bytes);
            assertTrue(WriteAheadLog.verify(damaged).damage().toString().contains("record 1 "), "at " + at);
        }
        log.close();
    }

    /** Nothing in the segment says so any more; what is certain of the log does. */
    @Test
    void aLogThatLostItsEndAfterItWasOpenedAgainIsFound() throws Exception {
        WriteAheadLog log = WriteAheadLog.open(disk, options());
        log.append(LogMode.AWAITED, record(1));
        disk.killIn(6); // the state says that the log is open, and nothing is written behind its old end
        assertThrows(SimulatedCrash.class, log::work);
        SimulatedDisk found = disk.copy();
        assertEquals(0, LogState.read(found).closedAt());
        byte[] bytes = found.bytes(newest);
        int mark = Fragment.HEADER;
        int last = Fragment.bytes(record(RECORDS).remaining());
        for (int at = (int) newestEnd - mark - last; at < newestEnd; at++) {
            bytes[at] = 0;
        }
        found.put(newest, bytes);
        MillraceException e = assertThrows(MillraceException.class, () -> read(found));
        assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
        assertTrue(
                e.getMessage().contains(newest) && e.getMessage().contains("record " + RECORDS + " "), e.getMessage());
    }
}
