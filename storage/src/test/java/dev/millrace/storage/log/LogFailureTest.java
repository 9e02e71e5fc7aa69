package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What writers are told while the disk fails, and what is there afterwards. */
@Tag("long")
class LogFailureTest {
    private final SimulatedDisk disk = new SimulatedDisk(3);
    private final StandingClock clock = new StandingClock();
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final WriteAheadLogOptions stepped = WriteAheadLogOptions.standard()
            .withSizes(16384, 4096)
            .withEvents(events::add)
            .simulated(clock, () -> 1);

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private static List<String> contents(SimulatedDisk of, WriteAheadLogOptions options) {
        List<String> found = new ArrayList<>();
        try (WriteAheadLog log = WriteAheadLog.open(of, options)) {
            log.replay(
                    0,
                    (number, bytes) ->
                            found.add(number + " " + java.nio.charset.StandardCharsets.US_ASCII.decode(bytes)));
        }
        return found;
    }

    @Test
    void whatAForceFailedForNeverComesBackAndWhatNobodyWaitedForDoes() {
        WriteAheadLog log = WriteAheadLog.open(disk, stepped);
        log.awaitDurable(log.append(LogMode.AWAITED, text("a")));
        disk.chances().forceErrorOneIn = 1;
        long failed = log.append(LogMode.AWAITED, text("b"));
        long kept = log.append(LogMode.DEFERRED, text("c"));
        log.work();
        assertFalse(log.isDurable(failed), "bytes of it may be on disk: that is not decided");
        assertEquals(
                SqlState.IO_ERROR,
                assertThrows(MillraceException.class, () -> log.append(LogMode.AWAITED, text("d")))
                        .sqlState());
        long more = log.append(LogMode.DEFERRED, text("e"));
        disk.calm();
        log.work();
        assertFalse(log.isDurable(kept), "it is too early to try again");
        clock.advanceMillis(100);
        log.work();
        assertEquals(
                SqlState.IO_ERROR,
                assertThrows(MillraceException.class, () -> log.isDurable(failed))
                        .sqlState());
        assertTrue(log.isDurable(kept) && log.isDurable(more));
        log.awaitDurable(log.append(LogMode.AWAITED, text("f")));
        assertEquals(2, events.size(), events.toString());
        assertTrue(events.get(0).startsWith("the log fails: cannot write the log"), events.get(0));
        assertTrue(events.get(1).startsWith("the log works again"), events.get(1));
        assertEquals(List.of("1 a", "3 c", "4 e", "5 f"), contents(disk.crash(), stepped));
    }

    @Test
    void aFullDiskRefusesWhoComesAtOnceAndNobodyElse() {
        WriteAheadLog log = WriteAheadLog.open(disk, stepped);
        log.awaitDurable(log.append(LogMode.AWAITED, text("a")));
        disk.setCapacity(disk.usedBytes());
        List<Long> accepted = new ArrayList<>();
        MillraceException full = assertThrows(MillraceException.class, () -> {
            while (true) {
                accepted.add(log.append(LogMode.DEFERRED, ByteBuffer.allocate(1000)));
            }
        });
        assertEquals(SqlState.DISK_FULL, full.sqlState());
        long before = log.lastNumber();
        assertEquals(
                SqlState.DISK_FULL,
                assertThrows(MillraceException.class, () -> log.append(LogMode.AWAITED, ByteBuffer.allocate(1000)))
                        .sqlState());
        assertEquals(before, log.lastNumber(), "what is refused has no number");
        accepted.forEach(log::awaitDurable);
        assertTrue(log.failure().isEmpty());
        disk.setCapacity(Long.MAX_VALUE);
        log.awaitDurable(log.append(LogMode.AWAITED, text("y")));
        log.close();
        assertEquals(0, log.statistics().failures());
    }

    /** Records of all lengths, over the ends of many segments, on disks that become full at any place. */
    @Test
    void whatIsAcceptedIsWrittenHoweverFullTheDiskIs() {
        int refused = 0;
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            SimulatedDisk small = new SimulatedDisk(seed);
            WriteAheadLogOptions options = stepped.withSizes(8192 << random.nextInt(3), 1 << 20);
            WriteAheadLog log = WriteAheadLog.open(small, options);
            long last = log.append(LogMode.DEFERRED, text("first"));
            long accepted = 1;
            small.setCapacity(small.usedBytes() + random.nextInt(300_000));
            List<LogReservation> reserved = new ArrayList<>();
            for (int step = 0; step < 300; step++) {
                int length = random.nextInt(random.nextInt(8) == 0 ? 20_000 : 600);
                try {
                    if (random.nextBoolean()) {
                        last = log.append(LogMode.DEFERRED, ByteBuffer.allocate(length));
                        accepted++;
                    } else {
                        reserved.add(log.reserve(length));
                    }
                } catch (MillraceException e) {
                    assertEquals(SqlState.DISK_FULL, e.sqlState());
                    refused++;
                }
                if (random.nextInt(4) == 0) {
                    for (LogReservation of : reserved) {
                        if (random.nextInt(8) > 0) {
                            last = of.append(ByteBuffer.allocate((int) of.bytes()));
                            accepted++;
                        }
                        of.close();
                    }
                    reserved.clear();
                }
                if (random.nextInt(5) == 0) {
                    log.work();
                    assertTrue(log.isDurable(last), "seed " + seed + ", step " + step);
                }
            }
            log.work();
            assertEquals(0, log.statistics().failures(), "seed " + seed);
            assertEquals(accepted, WriteAheadLog.verify(small.crash()).records(), "seed " + seed);
        }
        assertTrue(refused > 1000, refused + " refused");
    }

    @Test
    void aReservationNeitherWaitsNorIsRefusedWhileTheDiskFails() {
        WriteAheadLog log = WriteAheadLog.open(disk, stepped);
        LogReservation reserved = log.reserve(1000);
        log.append(LogMode.AWAITED, text("a"));
        disk.chances().forceErrorOneIn = 1;
        log.work();
        assertThrows(MillraceException.class, () -> log.reserve(1));
        assertThrows(MillraceException.class, log::awaitAll);
        long number = reserved.append(ByteBuffer.allocate(1000));
        disk.calm();
        clock.advanceMillis(100);
        log.work();
        assertTrue(log.isDurable(number));
        assertThrows(IllegalStateException.class, () -> reserved.append(ByteBuffer.allocate(1)));
        assertEquals(0, log.pendingBytes());
    }

    /** What somebody else appends by parts takes its time; a session that holds a lock does not wait for it. */
    @Test
    void aReservedRecordComesBehindALongOneThatIsAppended() {
        WriteAheadLog log = WriteAheadLog.open(disk, stepped);
        log.awaitDurable(log.append(LogMode.AWAITED, text("a")));
        LogReservation reserved = log.reserve(5);
        List<Long> numbers = new ArrayList<>();
        disk.setSlowness(millis -> {
            if (numbers.isEmpty() && log.lastNumber() == 2) {
                numbers.add(reserved.append(text("other")));
            }
        });
        disk.chances().slowForceOneIn = 1;
        long number = log.append(LogMode.AWAITED, ByteBuffer.allocate(600_000));
        log.awaitDurable(number + 1);
        assertEquals(List.of(number + 1), numbers);
        assertEquals(3, WriteAheadLog.verify(disk.crash()).records());
    }

    /** Old segments are written again; what is in them of their old life is not read. */
    /** Each run begins a segment of its own, of which nobody knows yet how much will be in it. */
    @Test
    void aLogOfManyRunsThatAreKilledHasShortSegments() {
        WriteAheadLogOptions standard = WriteAheadLogOptions.standard().simulated(clock, () -> 1);
        SimulatedDisk each = disk;
        for (int run = 0; run < 12; run++) {
            WriteAheadLog log = WriteAheadLog.open(each, standard);
            log.awaitDurable(log.append(LogMode.AWAITED, text("run " + run)));
            each = each.crash();
        }
        assertTrue(each.usedBytes() < 13 << 20, each.usedBytes() + " bytes");
        assertEquals(12, contents(each, standard).size());
    }

    @Test
    void segmentsAreReusedAndTheirOldRecordsNotRead() {
        WriteAheadLog log = WriteAheadLog.open(disk, stepped);
        long last = 0;
        long most = 0;
        for (int i = 0; i < 2000; i++) {
            last = log.append(LogMode.AWAITED, text("record " + i));
            log.awaitDurable(last);
            if (i % 50 == 0) {
                log.forget(last - 1);
                most = Math.max(most, disk.usedBytes());
            }
        }
        assertTrue(most <= 6 * 16384 + 96, most + " bytes");
        long number = last;
        WriteAheadLog again = WriteAheadLog.open(disk.crash(), stepped);
        List<Long> found = new ArrayList<>();
        again.replay(number - 1, (n, bytes) -> found.add(n));
        assertEquals(List.of(number), found);
    }

    @Test
    void manyThreadsAreAcknowledgedAndEachRecordIsThereOnce() throws Exception {
        WriteAheadLogOptions threaded =
                new WriteAheadLogOptions(1 << 20, 64 << 10, 200, 10, Clock.system(), () -> 5, event -> {}, true);
        disk.chances().forceErrorOneIn = 200;
        WriteAheadLog log = WriteAheadLog.open(disk, threaded);
        List<Long> acknowledged = Collections.synchronizedList(new ArrayList<>());
        List<Long> failed = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        AtomicLong wrong = new AtomicLong();
        for (int t = 0; t < 8; t++) {
            int writer = t;
            threads.add(new Thread(() -> {
                for (int i = 0; i < 400; i++) {
                    ByteBuffer record = ByteBuffer.allocate(i % 100 == 0 ? 70_000 : 40)
                            .putInt(0, writer)
                            .putInt(4, i);
                    long number = 0;
                    try {
                        number = log.append(LogMode.AWAITED, record);
                        log.awaitDurable(number);
                        acknowledged.add(number);
                    } catch (MillraceException e) {
                        if (number != 0) {
                            failed.add(number);
                        }
                        wrong.addAndGet(e.sqlState() == SqlState.IO_ERROR ? 0 : 1);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        disk.calm();
        Eventually.holds("the log works again", () -> log.failure().isEmpty());
        log.close();
        assertEquals(0, wrong.get());
        List<Long> found = new ArrayList<>();
        WriteAheadLog again = WriteAheadLog.open(disk.crash(), threaded);
        again.replay(0, (number, bytes) -> found.add(number));
        again.close();
        Collections.sort(acknowledged);
        assertEquals(acknowledged, found);
        assertFalse(found.stream().anyMatch(failed::contains));
    }

    @Test
    void whoWaitsWritesItselfAndTheLogsThreadWhatNobodyWaitsFor() {
        Set<String> forcing = ConcurrentHashMap.newKeySet();
        disk.setSlowness(millis -> forcing.add(Thread.currentThread().getName()));
        disk.chances().slowForceOneIn = 1;
        try (WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard())) {
            for (int i = 0; i < 50; i++) { // now and then the log's thread comes first
                log.awaitDurable(log.append(i % 2 == 0 ? LogMode.AWAITED : LogMode.DEFERRED, text("a")));
            }
            assertTrue(forcing.contains(Thread.currentThread().getName()), forcing.toString());
            forcing.clear();
            long number = log.append(LogMode.DEFERRED, text("b"));
            List<Long> called = Collections.synchronizedList(new ArrayList<>());
            log.whenDurable(number, () -> called.add(log.durableNumber()));
            Eventually.holds("it is called back", () -> !called.isEmpty());
            assertEquals(List.of(number), called);
            assertEquals(Set.of("millrace-log"), forcing);
        }
    }

    @Test
    void whoWritesIsToldBeforeOthersAre() {
        int first = 0;
        try (WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard())) {
            for (int i = 0; i < 50; i++) { // now and then the log's thread comes first
                List<String> told = Collections.synchronizedList(new ArrayList<>());
                long number = log.append(LogMode.DEFERRED, text("a"));
                log.whenDurable(number, () -> told.add("another"));
                boolean isWritten =
                        log.tryWrite(number, () -> told.add(log.isDurable(number) ? "the writer" : "early"));
                log.awaitDurable(number);
                Eventually.holds("all are told", () -> told.size() == (isWritten ? 2 : 1));
                first += told.get(0).equals("the writer") ? 1 : 0;
                assertEquals(isWritten, told.contains("the writer"));
                assertFalse(told.contains("early"));
            }
            assertTrue(first > 0, "it writes itself");
            assertTrue(log.tryWrite(log.lastNumber(), () -> {}), "what is there is there");
        }
    }

    @Test
    void whoCannotWriteIsToldNothing() {
        List<Long> told = new ArrayList<>();
        WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard());
        log.awaitDurable(log.append(LogMode.AWAITED, text("a")));
        disk.chances().forceErrorOneIn = 1;
        long number = log.append(LogMode.DEFERRED, text("b"));
        assertFalse(log.tryWrite(number, () -> told.add(number)));
        assertEquals(List.of(), told);
        disk.calm();
        log.awaitDurable(number);
        log.close();
    }

    @Test
    void allWhoComeWhileOneWritesShareTheNextForce() throws Exception {
        WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard());
        log.awaitDurable(log.append(LogMode.AWAITED, text("a"))); // makes the segment
        long before = log.statistics().groups();
        List<Thread> others = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            others.add(new Thread(() -> log.awaitDurable(log.append(LogMode.AWAITED, text("c")))));
        }
        disk.setSlowness(millis -> {
            if (log.lastNumber() == 2) {
                others.forEach(Thread::start);
                Eventually.holds("all have come", () -> log.lastNumber() == 10);
            }
        });
        disk.chances().slowForceOneIn = 1;
        log.awaitDurable(log.append(LogMode.AWAITED, text("b")));
        for (Thread thread : others) {
            thread.join();
        }
        assertEquals(before + 2, log.statistics().groups());
        log.close();
    }

    @Test
    void eachIsCalledBackOnceWhoeverWrites() throws Exception {
        Object order = new Object();
        Map<Long, Integer> called = new ConcurrentHashMap<>();
        List<Thread> threads = new ArrayList<>();
        try (WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard())) {
            for (int t = 0; t < 4; t++) {
                threads.add(new Thread(() -> {
                    for (int i = 0; i < 300; i++) {
                        long number;
                        synchronized (order) {
                            number = log.append(LogMode.DEFERRED, text("a"));
                            log.whenDurable(
                                    number,
                                    () -> called.merge(number, log.durableNumber() >= number ? 1 : 100, Integer::sum));
                        }
                        log.awaitDurable(number);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            Eventually.holds("all are called back", () -> called.size() == 1200);
        }
        assertEquals(Set.of(1), Set.copyOf(called.values()));
    }

    @Test
    void whoWaitsForADiskThatFailsCanBeStopped() throws Exception {
        disk.chances().forceErrorOneIn = 1;
        Interrupt interrupt = new Interrupt();
        List<MillraceException> told = Collections.synchronizedList(new ArrayList<>());
        disk.calm();
        WriteAheadLogOptions threaded =
                new WriteAheadLogOptions(16384, 4096, 200, 10, Clock.system(), () -> 5, event -> {}, true);
        WriteAheadLog log = WriteAheadLog.open(disk, threaded);
        log.awaitDurable(log.append(LogMode.AWAITED, text("a")));
        disk.chances().forceErrorOneIn = 1;
        Thread writer = new Thread(() -> {
            try (Interrupt.Binding bound = interrupt.bind()) {
                log.awaitDurable(log.append(LogMode.AWAITED, text("b")));
            } catch (MillraceException e) {
                told.add(e);
            }
        });
        writer.start();
        Eventually.holds("the log fails", () -> log.failure().isPresent());
        assertTrue(told.isEmpty());
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
        writer.join();
        assertEquals(SqlState.QUERY_CANCELED, told.get(0).sqlState());
        disk.calm();
        log.close();
    }

    @Test
    void aRecordThatIsLongerThanMemoryIsWrittenWhileItIsAppended() {
        WriteAheadLogOptions small =
                new WriteAheadLogOptions(1 << 20, 64 << 10, 200, 10, Clock.system(), () -> 5, event -> {}, true);
        byte[] bytes = new byte[5_000_000];
        new java.util.Random(1).nextBytes(bytes);
        try (WriteAheadLog log = WriteAheadLog.open(disk, small)) {
            log.append(LogMode.AWAITED, text("before"));
            long number = log.append(LogMode.DEFERRED, ByteBuffer.wrap(bytes));
            assertTrue(log.isDurable(number));
            log.append(LogMode.AWAITED, text("behind"));
        }
        List<Integer> lengths = new ArrayList<>();
        try (WriteAheadLog log = WriteAheadLog.open(disk.crash(), small)) {
            log.replay(0, (number, read) -> {
                lengths.add(read.remaining());
                assertTrue(number != 2 || read.equals(ByteBuffer.wrap(bytes)));
            });
        }
        assertEquals(List.of(6, 5_000_000, 6), lengths);
    }

    /** Each call of the disk that making a segment takes is the last one, with many ways to lose what was not forced. */
    @Test
    void aProcessThatIsKilledWhileASegmentIsMadeLeavesALogThatOpens() {
        int kills = 0;
        for (int seed = 0; seed < 1000; seed++) {
            SimulatedDisk fresh = new SimulatedDisk(seed);
            WriteAheadLog log = WriteAheadLog.open(fresh, stepped);
            log.awaitDurable(log.append(LogMode.AWAITED, ByteBuffer.allocate(12_000)));
            fresh.killIn(1 + seed % 14);
            long acknowledged = 1;
            try {
                while (acknowledged < 4) {
                    long number = log.append(LogMode.AWAITED, ByteBuffer.allocate(4000));
                    log.awaitDurable(number);
                    acknowledged = number;
                }
            } catch (SimulatedCrash e) {
                kills++;
            }
            List<Long> found = new ArrayList<>();
            try (WriteAheadLog again = WriteAheadLog.open(fresh.crash(), stepped)) {
                again.replay(0, (number, bytes) -> found.add(number));
                again.awaitDurable(again.append(LogMode.AWAITED, text("goes on")));
            }
            assertTrue(found.size() >= acknowledged, "seed " + seed + ": " + found + " of " + acknowledged);
        }
        assertTrue(kills > 900, kills + " killed");
    }
}
