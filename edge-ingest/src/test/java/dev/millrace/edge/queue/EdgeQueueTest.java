package dev.millrace.edge.queue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EdgeQueueTest {
    private static final long SEED = Long.getLong("millrace.edge.queue.seed", 20261128);
    private static final int LIVES = Integer.getInteger("millrace.edge.queue.lives", 300);

    private static QueueOptions options(WhenFull whenFull) {
        return new QueueOptions(1 << 20, 1 << 20, whenFull, 2, () -> 77);
    }

    private static EdgeQueue open(Disk disk, WhenFull whenFull) {
        return EdgeQueue.open(disk, options(whenFull), Merging.NONE);
    }

    private static byte[] bytes(long number, int length) {
        byte[] bytes = new byte[Math.max(8, length)];
        new Random(number).nextBytes(bytes);
        ByteBuffer.wrap(bytes).putLong(number);
        return bytes;
    }

    private static void add(EdgeQueue queue, long number, int length) {
        queue.begin("s")
                .segment(10, number, number, 5, 0, 1, bytes(number, length))
                .write();
    }

    @Test
    void recordsAreSentInOrderUntilTheyAreAcknowledged() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            for (int number = 1; number <= 5; number++) {
                add(queue, number, 100);
            }
            queue.acknowledge("s", 2);
            assertEquals(3, queue.from("s", 1).orElseThrow().from());
            assertArrayEquals(bytes(4, 100), queue.take("s", 4).orElseThrow().bytes());
            assertEquals(30, queue.backlog("s").rows());
            queue.acknowledge("s", 5);
            assertTrue(queue.from("s", 1).isEmpty());
            assertEquals(6, queue.backlog("s").next());
        }
    }

    @Test
    void numbersGoOnWhereTheyWereWhenAllIsAcknowledgedAndTheFilesAreGone() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        for (int life = 0; life < 4; life++) {
            try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
                assertEquals(life + 1, queue.backlog("s").next());
                assertEquals(77, queue.identity());
                add(queue, life + 1, 10);
                queue.acknowledge("s", life + 1);
            }
        }
    }

    @Test
    void aQueueOfManySmallRecordsShedsTheOldestWhenItsIndexIsFull() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        QueueOptions options = new QueueOptions(64 << 20, 512, WhenFull.OLDEST, 2, () -> 77);
        try (EdgeQueue queue = EdgeQueue.open(disk, options, Merging.NONE)) {
            for (int number = 1; number <= 2000; number++) {
                add(queue, number, 8);
                assertTrue(queue.records() <= 512, () -> queue.records() + " records");
            }
            QueueRecord shed = queue.from("s", 1).orElseThrow();
            assertEquals(RecordKind.SHED, shed.kind());
            assertEquals(10 * shed.to(), shed.rows());
            assertEquals(RecordKind.SEGMENT, queue.from("s", 2000).orElseThrow().kind());
            assertEquals(2000 - shed.to() + 1, queue.backlog("s").records());
            assertTrue(queue.records() > 300, "no more is shed than has to be");
            assertTrue(queue.bytes() < 1 << 20);
        }
    }

    @Test
    void rejectedRecordsComeBackAndMakeRoomAsSegmentsDo() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        RejectedLines records = new RejectedLines(
                2, 40, List.of(new RejectedLines.Rejected("n", "no number", "x".repeat(1000) + "\n")));
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            queue.begin("s").rejected(records).write();
        }
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            EdgeQueue.Found found = queue.take("s", 1).orElseThrow();
            assertEquals(RecordKind.REJECTED, found.record().kind());
            assertEquals(records, RejectedLines.read(found.bytes()));
            assertEquals("x".repeat(300), records.first().get(0).text());
            for (int number = 2; number <= 5000; number++) {
                queue.begin("s").rejected(records).write();
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
            assertEquals(RecordKind.SHED, queue.from("s", 65).orElseThrow().kind());
            assertEquals(0, queue.backlog("s").rows());
            assertEquals(0, queue.backlog("s").shedding().shedRows(), "they were no rows");
            byte[] bytes = records.bytes();
            for (int length = 0; length < bytes.length; length++) {
                byte[] cut = java.util.Arrays.copyOf(bytes, length);
                assertThrows(MillraceException.class, () -> RejectedLines.read(cut));
            }
        }
    }

    @Test
    void aFullQueueShedsTheOldestAndSaysSoInTheirPlace() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            add(queue, 1, 1000);
            queue.take("s", 1); // and all before 65 may have been sent: there is none yet
            for (int number = 2; number <= 3000; number++) {
                add(queue, number, 1000);
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
            assertEquals(RecordKind.SEGMENT, queue.from("s", 1).orElseThrow().kind(), "it may have been sent");
            QueueRecord shed = queue.from("s", 2).orElseThrow();
            assertEquals(RecordKind.SHED, shed.kind());
            assertEquals(2, shed.from());
            assertEquals(10 * (shed.to() - 1), shed.rows());
            assertEquals(2, shed.firstMicros());
            assertEquals(shed.to(), shed.lastMicros());
            Shedding shedding = queue.backlog("s").shedding();
            assertEquals(shed.rows(), shedding.shedRows());
            assertEquals(shed.to() - 1, shedding.shedSegments());
            for (long number = shed.to() + 1; number <= 3000; number++) {
                assertArrayEquals(
                        bytes(number, 1000),
                        queue.take("s", number).orElseThrow().bytes());
            }
            assertTrue(shed.to() < 2500, "only what there is no room for: " + shed);
        }
        try (EdgeQueue again = open(disk, WhenFull.OLDEST)) {
            assertEquals(RecordKind.SHED, again.from("s", 2).orElseThrow().kind());
            assertTrue(again.backlog("s").shedding().shedRows() > 0);
        }
    }

    @Test
    void aFullQueueThatKeepsTheOldestShedsWhatIsToCome() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.NEWEST)) {
            for (int number = 1; number <= 3000; number++) {
                queue.begin("s")
                        .segment(10, number, number, 5, 0, 1, bytes(number, 1000))
                        .place("line " + number)
                        .write();
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
            assertArrayEquals(bytes(1, 1000), queue.take("s", 1).orElseThrow().bytes());
            long first = 1;
            while (queue.from("s", first).orElseThrow().kind() == RecordKind.SEGMENT) {
                first++;
            }
            QueueRecord shed = queue.from("s", first).orElseThrow();
            assertEquals(RecordKind.SHED, shed.kind());
            assertEquals(3000, shed.to());
            assertEquals(10 * (3000 - first + 1), shed.rows());
            assertEquals(Optional.of("line 3000"), queue.place("s"), "what is not shed of a commit is kept");
            queue.acknowledge("s", 3000);
            add(queue, 3001, 1000);
            assertEquals(RecordKind.SEGMENT, queue.from("s", 3001).orElseThrow().kind(), "there is room again");
        }
    }

    @Test
    void adjacentSegmentsBecomeOneWhereTheQueueMayBeCoarser() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        Merging halves = segments -> {
            int sum = segments.stream().mapToInt(each -> each.segment().length).sum();
            return Optional.of(new byte[sum / 2]);
        };
        try (EdgeQueue queue = EdgeQueue.open(disk, options(WhenFull.COARSER), halves)) {
            for (int number = 1; number <= 1500; number++) {
                add(queue, number, 1000);
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
            assertEquals(0, queue.backlog("s").shedding().shedRows(), "1.5 MB is .75 MB and less when it is coarser");
            assertTrue(queue.backlog("s").shedding().coarserRows() > 0);
            assertEquals(15_000, queue.backlog("s").rows());
            long number = 1;
            while (number <= 1500) {
                QueueRecord record = queue.from("s", number).orElseThrow();
                assertEquals(number, record.from());
                assertEquals(10 * record.numbers(), record.rows());
                number = record.to() + 1;
            }
            for (number = 1501; number <= 6000; number++) {
                add(queue, number, 1000);
            }
            assertTrue(queue.backlog("s").shedding().shedRows() > 0, "as coarse as is allowed, and still no room");
            assertEquals(
                    60_000,
                    queue.backlog("s").rows() + queue.backlog("s").shedding().shedRows());
        }
    }

    @Test
    void segmentsThatDoNotBecomeSmallerStayAsTheyAre() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        Merging same = segments -> Optional.of(
                new byte
                        [segments.stream()
                                .mapToInt(each -> each.segment().length)
                                .sum()]);
        try (EdgeQueue queue = EdgeQueue.open(disk, options(WhenFull.COARSER), same)) {
            for (int number = 1; number <= 2000; number++) {
                add(queue, number, 1000);
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
            assertEquals(0, queue.backlog("s").shedding().coarserRows());
            assertTrue(queue.backlog("s").shedding().shedRows() > 0);
            assertArrayEquals(
                    bytes(2000, 1000), queue.take("s", 2000).orElseThrow().bytes());
        }
    }

    @Test
    void aDamagedFileIsNotedInThePlaceOfWhatItHad() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            for (int number = 1; number <= 300; number++) {
                add(queue, number, 1000);
            }
        }
        String second = disk.list().get(1);
        try (var file = disk.open(second)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), file.size() / 2);
        }
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            long lost = queue.backlog("s").shedding().lostSegments();
            assertTrue(lost > 0 && lost < 100, lost + " lost");
            long number = 1;
            long seen = 0;
            while (number <= 300) {
                QueueRecord record = queue.from("s", number).orElseThrow();
                assertEquals(number, record.from());
                if (record.kind() == RecordKind.LOST) {
                    seen += record.numbers();
                } else {
                    assertArrayEquals(
                            bytes(number, 1000),
                            queue.take("s", number).orElseThrow().bytes());
                }
                number = record.to() + 1;
            }
            assertEquals(lost, seen);
            assertEquals(301, queue.backlog("s").next());
        }
    }

    /** A device that is killed, loses power and fills its disk at any moment, against what it was told had been kept. */
    @ParameterizedTest
    @ValueSource(strings = {"OLDEST", "NEWEST"})
    void whatWasCommittedOutlivesAnyMoment(WhenFull whenFull) throws Exception {
        Random random = new Random(SEED);
        SimulatedDisk disk = new SimulatedDisk(SEED);
        long next = 1; // behind the last commit that is known to be there
        long acknowledged = 0;
        String place = "";
        int killed = 0;
        for (int life = 0; life < LIVES; life++) {
            boolean maybe = false; // the commit after that may be there, too
            try (EdgeQueue queue = open(disk, whenFull)) {
                long found = queue.backlog("s").next();
                assertTrue(found == next || found == next + 1, "life " + life + ": " + found + " for " + next);
                assertTrue(
                        queue.place("s").equals(Optional.of(place).filter(text -> !text.isEmpty()))
                                || queue.place("s").equals(Optional.of("line " + (found - 1))),
                        "life " + life + ": " + queue.place("s") + " for " + place);
                next = found;
                check(queue, acknowledged, next, "life " + life);
                if (random.nextInt(3) == 0) {
                    disk.killIn(random.nextInt(300));
                }
                for (int i = random.nextInt(200); i > 0; i--) {
                    if (i == 20 && random.nextBoolean()) {
                        disk.chances().writeErrorOneIn = 10;
                        disk.chances().forceErrorOneIn = 10;
                    }
                    int what = random.nextInt(10);
                    if (what == 0 && acknowledged + 1 < next) {
                        long upTo = acknowledged + 1 + random.nextInt((int) (next - acknowledged - 1));
                        acknowledged = Math.max(
                                acknowledged,
                                queue.from("s", upTo).map(QueueRecord::to).orElse(upTo));
                        queue.acknowledge("s", acknowledged);
                    } else if (what == 1) {
                        queue.take("s", acknowledged + 1 + random.nextInt(20));
                    } else {
                        maybe = true;
                        queue.begin("s")
                                .segment(10, next, next, 5, 0, 1, bytes(next, random.nextInt(4000)))
                                .place("line " + next)
                                .write();
                        maybe = false;
                        place = "line " + next;
                        next++;
                    }
                }
            } catch (SimulatedCrash e) {
                killed++;
            } catch (MillraceException e) {
                assertTrue(maybe || e.getMessage().contains("queue"), e.getMessage());
            }
            disk.calm();
            disk = disk.crash();
        }
        assertTrue(killed > LIVES / 10, killed + " were killed at work");
    }

    private static void check(EdgeQueue queue, long acknowledged, long next, String where) {
        long number = acknowledged + 1;
        while (number < next) {
            Optional<QueueRecord> record = queue.from("s", number);
            long at = number;
            assertTrue(record.isPresent(), () -> where + ": nothing from " + at + " on");
            assertTrue(
                    record.get().from() <= number && record.get().to() >= number,
                    () -> where + ": " + at + " is missing");
            assertFalse(record.get().kind() == RecordKind.LOST, () -> where + ": " + at + " is lost");
            if (record.get().kind() == RecordKind.SEGMENT) {
                byte[] bytes = queue.take("s", number).orElseThrow().bytes();
                assertEquals(number, ByteBuffer.wrap(bytes).getLong(), where);
            }
            number = record.get().to() + 1;
        }
    }

    @Test
    void settingsAndOpenSegmentsAreThereAgain() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            queue.begin("s")
                    .open("a", bytes(1, 50))
                    .open("b", bytes(2, 50))
                    .settings(7, "x=1\n")
                    .write();
            queue.begin("s").open("a", new byte[0]).open("b", bytes(3, 50)).write();
        }
        List<String> keys = new ArrayList<>();
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            queue.opens("s").forEach((key, state) -> {
                keys.add(key);
                assertArrayEquals(bytes(3, 50), state);
            });
            assertEquals(7, queue.settingsNumber("s"));
            assertEquals(Optional.of("x=1\n"), queue.settings("s"));
        }
        assertEquals(List.of("b"), keys);
    }

    @Test
    void partialsAreRecordsAndOpenGroupsOfWindowsAreThereAgain() {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            queue.begin("s").groups("q", bytes(1, 50)).groups("r", bytes(2, 50)).write();
            queue.begin("s")
                    .partials(12, 99, bytes(1, 40))
                    .groups("r", new byte[0])
                    .write();
            assertEquals(0, queue.backlog("s").rows(), "they are no rows one by one");
            for (int i = 0; i < 5000; i++) { // through many files
                queue.begin("s").groups("q", bytes(i, 500)).write();
                assertTrue(queue.bytes() <= 1 << 20, () -> queue.bytes() + " bytes");
            }
        }
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            assertEquals(List.of("q"), List.copyOf(queue.groups("s").keySet()));
            assertArrayEquals(bytes(4999, 500), queue.groups("s").get("q"));
            EdgeQueue.Found found = queue.take("s", 1).orElseThrow();
            assertEquals(RecordKind.PARTIALS, found.record().kind());
            assertEquals(12, found.record().rows());
            assertArrayEquals(bytes(1, 40), found.bytes());
            queue.settle("s", 0);
            for (int number = 2; number <= 5000; number++) {
                queue.begin("s").partials(1, number, bytes(number, 300)).write();
            }
            assertEquals(RecordKind.SHED, queue.from("s", 1).orElseThrow().kind());
            assertTrue(queue.backlog("s").shedding().shedRows() >= 12, "what they stand for is counted");
        }
    }

    @Test
    void aQueueOfBeforeWindowsIsReadAndOneOfALaterVersionIsRefused() throws IOException {
        SimulatedDisk disk = new SimulatedDisk(SEED);
        try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
            add(queue, 1, 100);
        }
        for (int version : List.of(1, 2, 3)) {
            setVersion(disk, version);
            try (EdgeQueue queue = open(disk, WhenFull.OLDEST)) {
                assertArrayEquals(
                        bytes(1, 100), queue.take("s", 1).orElseThrow().bytes());
                assertEquals(List.of(), List.copyOf(queue.groups("s").keySet()));
            }
        }
        setVersion(disk, 5);
        assertThrows(MillraceException.class, () -> open(disk, WhenFull.OLDEST));
    }

    private static void setVersion(Disk disk, int version) throws IOException {
        for (String name : disk.list()) {
            try (DiskFile file = disk.open(name)) {
                file.write(ByteBuffer.allocate(4).putInt(0, version), 8);
            }
        }
    }
}
