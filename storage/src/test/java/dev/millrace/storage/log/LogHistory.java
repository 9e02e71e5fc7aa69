package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * One simulated life of a log: writers append, wait and are told, the disk fails, the machine stops, the log is opened again; and after
 * each time what is there is compared with what was promised.
 */
final class LogHistory {
    private static final Set<SqlState> TOLD = EnumSet.of(SqlState.DISK_FULL, SqlState.IO_ERROR);

    /** What the writer of a record knows of it. */
    private enum Known {
        NOTHING,
        DURABLE,
        FAILED
    }

    private static final class Written {
        final byte[] bytes;
        final LogMode mode;
        Known known = Known.NOTHING;

        Written(byte[] bytes, LogMode mode) {
            this.bytes = bytes;
            this.mode = mode;
        }
    }

    private final Random random;
    private final StandingClock clock = new StandingClock();
    private final WriteAheadLogOptions options;
    private final TreeMap<Long, Written> written = new TreeMap<>();
    private final Map<String, Integer> seen = new HashMap<>();
    private SimulatedDisk disk;
    private WriteAheadLog log;
    private long forgotten;
    private long checked;

    LogHistory(long seed) {
        random = new Random(seed);
        disk = new SimulatedDisk(random.nextLong());
        disk.setSlowness(clock::advanceMillis);
        int segment = 8192 << random.nextInt(4);
        int buffer = 2048 << random.nextInt(7);
        options = new WriteAheadLogOptions(
                        segment, buffer, 200, 100, clock, random::nextLong, event -> count(event.split(":")[0]), true)
                .simulated(clock, random::nextLong);
        log = WriteAheadLog.open(disk, options);
    }

    SimulatedDisk disk() {
        return disk;
    }

    /** How often what happened that is not the disk's doing. */
    Map<String, Integer> seen() {
        return seen;
    }

    private void count(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    void run(int steps) {
        for (int step = 0; step < steps; step++) {
            try {
                step();
            } catch (SimulatedCrash e) {
                crash();
            }
        }
        disk.calm();
        disk.setCapacity(Long.MAX_VALUE);
        closeAndOpen();
        closeAndOpen();
        log.close();
    }

    private void step() {
        int what = random.nextInt(1000);
        if (what < 450) {
            append();
        } else if (what < 650) {
            log.work();
        } else if (what < 850) {
            look();
        } else if (what < 910) {
            clock.advanceMillis(random.nextInt(500));
        } else if (what < 930) {
            forget();
        } else if (what < 950) {
            weather();
        } else if (what < 965) {
            disk.killIn(random.nextInt(40));
        } else if (what < 980) {
            crash();
        } else if (what < 990) {
            closeAndOpen();
        } else {
            disk.setCapacity(random.nextBoolean() ? Long.MAX_VALUE : disk.usedBytes() + random.nextInt(20_000));
        }
    }

    private void weather() {
        if (random.nextInt(3) == 0) {
            disk.calm();
            return;
        }
        disk.chances().writeErrorOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        disk.chances().forceErrorOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        disk.chances().fullOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        disk.chances().slowForceOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(10);
        disk.chances().stallOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        disk.chances().readErrorOneIn = random.nextInt(4) > 0 ? 0 : 1 + random.nextInt(40);
    }

    private void append() {
        int length = random.nextInt(random.nextInt(20) == 0 ? 30_000 : 400);
        if (random.nextInt(300) == 0) {
            length = 300_000 + random.nextInt(300_000); // appended by parts
        }
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        LogMode mode = random.nextInt(3) == 0 ? LogMode.DEFERRED : LogMode.AWAITED;
        int cut = length == 0 ? 0 : random.nextInt(length);
        long before = log.lastNumber();
        try {
            if (mode == LogMode.DEFERRED && length < 30_000 && random.nextBoolean()) {
                reserveAndAppend(bytes);
                return;
            }
            long number = log.append(mode, ByteBuffer.wrap(bytes, 0, cut), ByteBuffer.wrap(bytes, cut, length - cut));
            assertEquals(before + 1, number);
            written.put(number, new Written(bytes, mode));
        } catch (MillraceException e) {
            count("refused " + e.sqlState().code());
            assertTrue(TOLD.contains(e.sqlState()), e.toString());
            for (long number = before + 1; number <= log.lastNumber(); number++) {
                Written gone = new Written(bytes, LogMode.AWAITED);
                gone.known = Known.FAILED;
                written.put(number, gone);
            }
        } catch (SimulatedCrash e) {
            written.put(
                    before + 1, new Written(bytes, mode)); // unless an earlier one was being written: then never there
            throw e;
        }
    }

    /** Whatever happens between the two, the record is taken. */
    private void reserveAndAppend(byte[] bytes) {
        try (LogReservation reserved = log.reserve(bytes.length)) {
            if (random.nextBoolean()) {
                log.work();
            }
            if (random.nextInt(10) > 0) {
                written.put(reserved.append(ByteBuffer.wrap(bytes)), new Written(bytes, LogMode.DEFERRED));
            }
        }
    }

    /** All writers look whether they are through. */
    private void look() {
        written.forEach((number, record) -> {
            if (record.known == Known.NOTHING) {
                try {
                    if (log.isDurable(number)) {
                        record.known = Known.DURABLE;
                    }
                } catch (MillraceException e) {
                    assertTrue(TOLD.contains(e.sqlState()), e.toString());
                    assertEquals(LogMode.AWAITED, record.mode, "record " + number);
                    record.known = Known.FAILED;
                    count("failed");
                }
            }
        });
    }

    private void forget() {
        long durable = log.durableNumber();
        if (durable > forgotten) {
            long upTo = forgotten + 1 + random.nextInt((int) (durable - forgotten));
            forgotten = upTo;
            try {
                log.forget(upTo);
                count("forgot");
            } catch (MillraceException e) {
                assertTrue(TOLD.contains(e.sqlState()), e.toString());
            }
        }
    }

    private void crash() {
        count("crash");
        disk = disk.crash();
        open();
    }

    private void closeAndOpen() {
        look();
        try {
            log.close();
            count("close");
            written.forEach(this::decide);
            written.forEach((number, record) -> {
                if (record.known == Known.NOTHING && record.mode == LogMode.DEFERRED) {
                    fail("record " + number + " was neither kept nor called lost by close");
                }
            });
        } catch (MillraceException e) {
            count("close failed");
            written.forEach(this::decide);
        }
        open();
    }

    private void decide(long number, Written record) {
        try {
            if (record.known == Known.NOTHING && log.isDurable(number)) {
                record.known = Known.DURABLE;
            }
        } catch (MillraceException e) {
            if (TOLD.contains(e.sqlState())) {
                record.known = Known.FAILED;
            }
        }
    }

    private void open() {
        for (int tries = 0; ; tries++) {
            try {
                log = WriteAheadLog.open(disk, options);
                check();
                return;
            } catch (MillraceException e) {
                assertTrue(tries < 20 && TOLD.contains(e.sqlState()), e.toString());
                count("could not open");
                if (tries > 2) {
                    disk.calm();
                    disk.setCapacity(Long.MAX_VALUE);
                }
            } catch (SimulatedCrash e) {
                disk = disk.crash();
            }
        }
    }

    /** What is there is what was promised. */
    private void check() {
        LogReport report = WriteAheadLog.verify(disk.copy());
        assertEquals(java.util.List.of(), report.damage());
        TreeMap<Long, Written> found = new TreeMap<>();
        log.replay(forgotten, (number, bytes) -> {
            Written record = written.get(number);
            assertTrue(record != null, "record " + number + " was never appended");
            assertTrue(found.isEmpty() || found.lastKey() < number, "record " + number + " is out of order");
            assertTrue(record.known != Known.FAILED, "record " + number + " had failed and came back");
            byte[] read = new byte[bytes.remaining()];
            bytes.get(read);
            assertArrayEquals(record.bytes, read, "record " + number);
            record.known = Known.DURABLE;
            found.put(number, record);
        });
        written.tailMap(forgotten, false).forEach((number, record) -> {
            if (record.known == Known.DURABLE) {
                assertTrue(found.containsKey(number), "record " + number + " is lost");
                checked++;
            }
        });
        written.clear();
        written.putAll(found);
        log.notices().forEach(notice -> count("torn end"));
    }

    long checked() {
        return checked;
    }
}
