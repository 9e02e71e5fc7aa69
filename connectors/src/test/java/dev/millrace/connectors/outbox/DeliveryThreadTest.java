package dev.millrace.connectors.outbox;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Parcels that go together are each delivered once, however they are put together again after a failure or a restart. */
class DeliveryThreadTest {
    private static final int LIVES = 6;
    private static final int PARCELS = 300;

    /** What waits, as its owner keeps it: until it is delivered. */
    private final TreeMap<Long, Parcel> waiting = new TreeMap<>();

    private final class Numbered implements Parcel, Delivery.Records {
        private final long number;
        private final int count;

        Numbered(long number, int count) {
            this.number = number;
            this.count = count;
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public Delivery.Records records() {
            return this;
        }

        @Override
        public void delivered() {
            synchronized (waiting) {
                waiting.remove(number);
            }
        }

        @Override
        public long count() {
            return count;
        }

        @Override
        public void forEach(Consumer<ByteBuffer> record) {
            for (int i = 0; i < count; i++) {
                record.accept(ByteBuffer.allocate(Long.BYTES).putLong(0, 1_000 * number + i));
            }
        }
    }

    private List<Parcel> there() {
        synchronized (waiting) {
            return List.copyOf(waiting.values());
        }
    }

    @Test
    void eachRecordIsThereOnceInOrderWhateverFails() {
        Random random = new Random(5);
        MemoryOutside outside = new MemoryOutside(6, 15);
        List<Long> expected = new ArrayList<>();
        long next = 1;
        for (int life = 0; life < LIVES; life++) {
            List<Parcel> before = there();
            try (DeliveryThread thread =
                    new DeliveryThread("test", outside.delivery(), Clock.SystemClock.INSTANCE, 7, true, next - 1, 0)) {
                thread.add(before);
                thread.start();
                for (int i = 0; i < PARCELS / LIVES; i++, next++) {
                    int count = random.nextInt(4) + 1;
                    long number = next;
                    LongStream.range(0, count).forEach(record -> expected.add(1_000 * number + record));
                    Parcel parcel = new Numbered(number, count);
                    synchronized (waiting) {
                        waiting.put(number, parcel);
                    }
                    thread.add(List.of(parcel));
                }
                if (life == LIVES - 1) {
                    Eventually.holds("all is delivered", () -> there().isEmpty());
                }
                thread.requireNoFailure();
            }
        }
        assertEquals(expected, outside.seen());
    }
}
