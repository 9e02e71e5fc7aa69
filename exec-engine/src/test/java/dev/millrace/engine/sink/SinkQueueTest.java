package dev.millrace.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.Sink;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A sink that takes what the test lets it take, in the test's time: its thread is a list of calls, its alarms are a list. */
class SinkQueueTest {
    private static final Schema SCHEMA = new Schema(List.of(new Field("a", DataType.BIGINT, false)));
    private static final long HIGH_BYTES = 4_096;
    private static final long SECOND = 1_000_000; // microseconds
    private static final long MOST = 7 * SECOND;

    private final BufferAllocator allocator = PooledAllocation.newRoot(1 << 20);
    private final TestClock clock = new TestClock(0);
    private final TreeMap<Long, List<Runnable>> alarms = new TreeMap<>();
    private final Deque<Runnable> calls = new ArrayDeque<>(); // of the sink's thread, not made yet
    private final List<Throwable> failures = new ArrayList<>();
    private int written;

    private boolean isDiskFull;

    private final Sink sink = new CheckpointedSink() {
        @Override
        public void write(Batch batch) {
            written++;
        }

        @Override
        public void commit(long epoch) {}

        @Override
        public void recover(Optional<PreparedRows> from) {}

        @Override
        public byte[] prepare(long checkpoint) {
            return new byte[0];
        }

        @Override
        public void publish(long checkpoint) {}

        @Override
        public boolean waitsForDisk() {
            return isDiskFull;
        }

        @Override
        public void close() {}
    };

    private SinkQueue queue = queue(1_000 * MOST);

    private SinkQueue queue(long mostNanos) {
        return new SinkQueue(
                sink,
                calls::add,
                HIGH_BYTES,
                mostNanos,
                clock,
                (time, action) ->
                        alarms.computeIfAbsent(time, at -> new ArrayList<>()).add(action),
                new SinkQueue.Owner() {
                    @Override
                    public void hasRoom() {}

                    @Override
                    public void failed(Throwable failure) {
                        failures.add(failure);
                    }
                });
    }

    @AfterEach
    void nothingIsLeft() {
        takeAll();
        queue.close();
        allocator.close();
    }

    private void write(int rows) {
        for (int i = 0; i < rows; i++) {
            try (Batch batch = TestBatches.of(SCHEMA, allocator, Row.of((long) i))) {
                queue.write(batch);
            }
        }
    }

    /** The sink takes all that waits. */
    private void takeAll() {
        while (!calls.isEmpty()) {
            calls.remove().run();
        }
    }

    private void pass(long micros) {
        long end = clock.nanoTime() + 1_000 * micros;
        while (!alarms.isEmpty() && alarms.firstKey() <= end) {
            clock.advance(Math.max(0, alarms.firstKey() - clock.nanoTime()) / 1_000);
            alarms.pollFirstEntry().getValue().forEach(Runnable::run);
        }
        clock.advance((end - clock.nanoTime()) / 1_000);
    }

    @Test
    void aSinkThatTakesNothingWhileItsQueueIsFullFailsAfterItsTime() {
        write(100);
        assertTrue(queue.isFull());
        pass(MOST - 1);
        assertEquals(List.of(), failures);
        pass(1);
        assertEquals(1, failures.size());
        MillraceException why = (MillraceException) failures.get(0);
        assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, why.sqlState());
        assertTrue(why.getMessage().contains("sink_timeout (7000 ms)"), why.getMessage());
        assertTrue(why.hint().orElseThrow().contains("SET sink_timeout"), why.hint()::toString);
        assertFalse(queue.isFull(), "nobody waits for it any more");
        assertEquals(0, allocator.getAllocatedMemory(), "its rows are free");
        pass(10 * MOST);
        assertEquals(1, failures.size(), "it is told once");
    }

    @Test
    void aSinkThatWaitsForRoomOnDiskIsNotGivenUpUntilThereIsSome() {
        isDiskFull = true;
        write(100);
        pass(1_000 * MOST);
        assertEquals(List.of(), failures);
        isDiskFull = false;
        pass(2 * MOST);
        assertEquals(1, failures.size(), "and then it took nothing");
    }

    @Test
    void aSinkForWhichNobodyWaitsMayTakeItsTime() {
        write(1);
        assertFalse(queue.isFull());
        pass(1_000 * MOST);
        assertEquals(List.of(), failures);
    }

    @Test
    void aSinkThatTakesSomethingNowAndThenGoesOnForEver() {
        for (int round = 0; round < 100; round++) {
            write(100);
            pass(MOST - SECOND);
            takeAll();
            pass(SECOND);
        }
        assertEquals(List.of(), failures);
        assertEquals(100 * 100, written);
        write(100);
        pass(2 * MOST);
        assertEquals(1, failures.size(), "the hundred and first time it is stuck");
    }

    @Test
    void aSinkWithoutALimitIsWaitedFor() {
        queue = queue(Long.MAX_VALUE);
        write(100);
        assertTrue(queue.isFull());
        pass(1_000_000 * SECOND);
        assertEquals(List.of(), failures);
        assertEquals(0, alarms.size());
        takeAll();
        assertFalse(queue.isFull());
        assertEquals(100, written);
    }

    @Test
    void aClosedQueueIsNotLookedAtAnyMore() {
        write(100);
        queue.close();
        pass(2 * MOST);
        assertEquals(List.of(), failures);
        assertEquals(0, alarms.size());
    }
}
