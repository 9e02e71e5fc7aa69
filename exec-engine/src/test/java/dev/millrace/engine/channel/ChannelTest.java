package dev.millrace.engine.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class ChannelTest {
    private static final Schema SCHEMA = Schema.of(new Field("a", DataType.BIGINT, false));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final TestClock clock = new TestClock(0);

    private Batch batch() {
        return TestBatches.of(SCHEMA, memory.allocator(), Row.of(1), Row.of(2));
    }

    @Test
    void itemsComeOutInTheirOrder() {
        try (Channel channel = new Channel(1000, 500, clock)) {
            channel.put(new Item.Rows(batch()));
            channel.put(new Item.Watermark(5));
            channel.put(new Item.EpochEnd(1));
            channel.put(Item.END);
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertEquals(new Item.Watermark(5), channel.poll().orElseThrow());
            assertEquals(new Item.EpochEnd(1), channel.poll().orElseThrow());
            assertEquals(Item.END, channel.poll().orElseThrow());
            assertTrue(channel.poll().isEmpty());
        }
    }

    @Test
    void itIsFullFromTheHighMarkDownToTheLow() {
        long bytes;
        try (Batch one = batch()) {
            bytes = one.sizeInBytes();
        }
        AtomicInteger room = new AtomicInteger();
        AtomicInteger items = new AtomicInteger();
        try (Channel channel = new Channel(4 * bytes, 2 * bytes, clock)) {
            channel.onRoom(room::incrementAndGet);
            channel.onItem(items::incrementAndGet);
            for (int i = 0; i < 5; i++) {
                assertFalse(channel.isFull());
                channel.put(new Item.Rows(batch()));
            }
            assertEquals(5 * bytes, channel.queuedBytes());
            assertTrue(channel.isFull());
            for (int left = 4; left >= 2; left--) {
                ((Item.Rows) channel.poll().orElseThrow()).batch().close();
                assertTrue(channel.isFull(), left + " left");
            }
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertFalse(channel.isFull());
            assertEquals(1, room.get());
            assertEquals(5, items.get());
        }
    }

    /** Producers would wait for ever: what is left is no row, so its taking makes no room that anybody could see. */
    @Test
    void withALowMarkOfZeroThereIsRoomOnceAllRowsAreOutWhateverSignalsAreLeft() {
        AtomicInteger room = new AtomicInteger();
        try (Channel channel = new Channel(8, 0, clock)) {
            channel.onRoom(room::incrementAndGet);
            channel.put(new Item.Rows(batch()));
            channel.put(new Item.Rows(batch()));
            channel.put(new Item.EpochEnd(1));
            assertTrue(channel.isFull());
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertTrue(channel.isFull());
            assertEquals(0, room.get());
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertFalse(channel.isFull());
            assertEquals(1, room.get());
            assertEquals(new Item.EpochEnd(1), channel.poll().orElseThrow());
            assertEquals(1, room.get());
        }
    }

    @Test
    void atTheMarksItIsAsBefore() {
        long bytes;
        try (Batch one = batch()) {
            bytes = one.sizeInBytes();
        }
        AtomicInteger room = new AtomicInteger();
        try (Channel channel = new Channel(2 * bytes, bytes, clock)) {
            channel.onRoom(room::incrementAndGet);
            channel.put(new Item.Rows(batch()));
            channel.put(new Item.Rows(batch()));
            assertFalse(channel.isFull()); // just at the high mark
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertEquals(0, room.get());
            channel.put(new Item.Rows(batch()));
            channel.put(new Item.Rows(batch()));
            assertTrue(channel.isFull());
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertTrue(channel.isFull()); // just at the low mark
            assertEquals(0, room.get());
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            assertFalse(channel.isFull());
            assertEquals(1, room.get());
            assertEquals(0, channel.queuedBytes());
        }
    }

    @Test
    void signalsTakeNoRoomAndTellTheConsumer() {
        AtomicInteger items = new AtomicInteger();
        AtomicInteger room = new AtomicInteger();
        try (Channel channel = new Channel(8, 0, clock)) {
            channel.onItem(items::incrementAndGet);
            channel.onRoom(room::incrementAndGet);
            assertTrue(channel.isEmpty());
            for (int i = 0; i < 100; i++) {
                channel.put(new Item.EpochEnd(i));
            }
            assertFalse(channel.isEmpty());
            assertFalse(channel.isFull());
            assertEquals(100, items.get());
            for (int i = 0; i < 100; i++) {
                assertEquals(new Item.EpochEnd(i), channel.poll().orElseThrow());
            }
            assertTrue(channel.isEmpty());
            assertEquals(0, room.get());
        }
        assertEquals(1, room.get()); // closed, it has room for ever
    }

    @Test
    void aFullChannelThatIsClosedIsEmptyAndHasRoom() {
        AtomicInteger items = new AtomicInteger();
        AtomicInteger room = new AtomicInteger();
        Channel channel = new Channel(8, 0, clock);
        channel.onRoom(room::incrementAndGet);
        channel.onItem(items::incrementAndGet);
        channel.put(new Item.Rows(batch()));
        channel.put(Item.IDLE);
        assertTrue(channel.isFull());
        channel.close();
        assertFalse(channel.isFull());
        assertTrue(channel.isEmpty());
        assertEquals(0, channel.queuedBytes());
        assertEquals(1, room.get());
        channel.put(new Item.Rows(batch()));
        assertEquals(2, items.get()); // nothing is there
        assertTrue(channel.isEmpty());
        assertEquals(0, channel.queuedBytes());
        channel.close();
    }

    @Test
    void aClosedChannelFreesWhatItIsGiven() {
        Channel channel = new Channel(8, 0, clock);
        channel.put(new Item.Rows(batch()));
        channel.close();
        channel.put(new Item.Rows(batch()));
        assertFalse(channel.isFull());
        assertTrue(channel.poll().isEmpty());
    }

    /** A task that is held up by its outlet passes nothing on, but to those that say that they can take it. */
    @Test
    void anOutletTakesNoSignalsWhenItIsFullUnlessItSaysSo() {
        Outlet plain = new Outlet() {
            @Override
            public void rows(Batch batch) {
                batch.close();
            }

            @Override
            public void watermark(long micros) {}

            @Override
            public void idle() {}

            @Override
            public void epochEnd(long epoch) {}

            @Override
            public void end() {}

            @Override
            public void flush() {}

            @Override
            public boolean isFull() {
                return true;
            }

            @Override
            public void close() {}
        };
        assertFalse(plain.takesSignalsWhenFull());
    }

    @Test
    void theTimeForWhichEachBatchWaitedIsAdded() {
        try (Channel channel = new Channel(1000, 500, clock)) {
            channel.put(new Item.Rows(batch()));
            clock.advance(10);
            channel.put(new Item.Watermark(1));
            channel.put(new Item.Rows(batch()));
            clock.advance(5);
            assertEquals(15_000 + 5_000, channel.waitNanos());
            ((Item.Rows) channel.poll().orElseThrow()).batch().close();
            clock.advance(100);
            assertEquals(15_000 + 105_000, channel.waitNanos());
            channel.close();
            clock.advance(1);
            assertEquals(15_000 + 105_000, channel.waitNanos());
        }
    }
}
