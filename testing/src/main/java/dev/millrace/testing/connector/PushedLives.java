package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceMemory;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A pushed source as the database feeds a stream from it, over and over, with crashes in between: what it gives goes to a log with what it is to remember, some of that is on disk, and is
 * acknowledged; a crash leaves what was on disk. What the stream has in the end is compared with what was brought. Owned by one thread.
 */
public final class PushedLives implements AutoCloseable {
    private static final int MOST_RECORDS = 30; // that are brought at a time

    private final PushedOutside outside;
    private final BufferAllocator allocator;
    private final Random random;
    private final PushedFault fault;
    private final String database = UUID.randomUUID().toString().substring(0, 8);
    private final PushedStore store = new PushedStore();
    private final AtomicInteger rejected = new AtomicInteger();
    private final Deque<Integer> taken = new ArrayDeque<>(); // the entry of each batch that is not acknowledged
    private Optional<PushedReader> reader = Optional.empty();
    private long acknowledged; // batches
    private long brought; // records
    private final boolean isImpatient;

    public PushedLives(PushedOutside outside, BufferAllocator allocator, long seed) {
        this(outside, allocator, seed, PushedFault.NONE);
    }

    /** The same of readers with a fault, for which it does not wait when nothing moves any more. */
    public PushedLives(PushedOutside outside, BufferAllocator allocator, long seed, PushedFault fault) {
        this.outside = outside;
        this.allocator = allocator;
        this.random = new Random(seed);
        this.fault = fault;
        this.isImpatient = fault != PushedFault.NONE;
    }

    private PushedContext context() {
        int batchRows = 1 + random.nextInt(20);
        return new PushedContext() {
            @Override
            public BufferAllocator allocator() {
                return allocator;
            }

            @Override
            public Clock clock() {
                return Clock.system();
            }

            @Override
            public int batchRows() {
                return batchRows;
            }

            @Override
            public void wakeUp() {}

            @Override
            public void reject(RejectedRecord record) {
                rejected.incrementAndGet();
            }

            @Override
            public String stream() {
                return "s";
            }

            @Override
            public String database() {
                return database;
            }

            @Override
            public boolean isDurable() {
                return true;
            }

            @Override
            public SourceMemory memory() {
                return store;
            }
        };
    }

    /** Begins with what is on disk. */
    public void begin() {
        reader = Optional.of(fault.in(outside.source().receive(context())));
        acknowledged = 0;
        taken.clear();
    }

    /** Begins, and waits until the outside knows it. */
    public void beginFirst() {
        begin();
        isSubscribed();
    }

    /** Polls until the outside is there and knows the stream. */
    public void isSubscribed() {
        Eventually.holds(
                "the outside knows the stream, and not " + reader.orElseThrow().splits(), () -> {
                    poll();
                    return reader.orElseThrow().splits().stream()
                            .allMatch(split -> split.waitsFor().isEmpty() && outside.knows(split));
                });
    }

    public void bring() {
        long more = 1 + random.nextInt(MOST_RECORDS);
        outside.bring(brought, brought + more);
        brought += more;
        if (!outside.bringsAgain()) {
            comesToHaveAll();
        }
    }

    /** Has the stream take a batch, if there is one. */
    public void poll() {
        PushedReader from = reader.orElseThrow();
        Optional<Batch> polled = from.poll();
        if (polled.isPresent()) {
            try (Batch batch = polled.get()) {
                taken.add(store.append(batch, from.remembered()));
            }
        }
    }

    /** So many entries are on disk. */
    private void isOnDisk(int entries) {
        store.isOnDisk(entries);
    }

    /** Acknowledges what is on disk, as far as the database has noticed. */
    public void acknowledge() {
        long before = acknowledged;
        while (!taken.isEmpty() && taken.element() <= store.durable()) {
            taken.remove();
            acknowledged++;
        }
        if (acknowledged > before) {
            reader.orElseThrow().acknowledge(acknowledged);
        }
    }

    /** The process ends: nothing is said any more, and what was not on disk is gone. */
    public void crash() {
        outside.cut();
        stop();
        outside.mend();
    }

    private void stop() {
        Optional<PushedReader> old = reader;
        reader = Optional.empty();
        store.crash();
        old.ifPresent(PushedReader::close);
    }

    /** So many steps, at random; then the stream has all. */
    public void live(int steps) {
        beginFirst();
        for (int step = 0; step < steps; step++) {
            step(random.nextInt(16));
        }
        bring();
        hasAll();
        remembersLittle();
    }

    private void step(int choice) {
        switch (choice) {
            case 0, 1 -> bring();
            case 2 -> isOnDisk(store.durable() + random.nextInt(1 + store.size() - store.durable()));
            case 3 -> {
                isOnDisk(store.size());
                acknowledge();
            }
            case 4 -> {
                outside.cut();
                outside.mend();
            }
            case 5 -> {
                if (random.nextBoolean()) {
                    isOnDisk(store.size()); // and nobody was told
                }
                crash();
                begin();
            }
            case 6 ->
                Eventually.settles(
                        "what has come",
                        () -> reader.orElseThrow().splits().get(0).lagRecords().orElse(0));
            case 7 -> acknowledge();
            default -> poll();
        }
    }

    /** The stream comes to have each record that was brought, and stays so over another crash. */
    public void hasAll() {
        comesToHaveAll();
        crash();
        begin();
        comesToHaveAll();
    }

    private void takeAll() {
        poll();
        isOnDisk(store.size());
        acknowledge();
    }

    private void comesToHaveAll() {
        if (isImpatient) {
            isSubscribed();
            Eventually.settles("rows", () -> {
                takeAll();
                return store.rows().size();
            });
        } else {
            Eventually.holds(
                    brought + " records are rows, and not " + store.rows().size(), () -> {
                        takeAll();
                        return new HashSet<>(store.rows()).size() >= brought;
                    });
        }
        for (int more = 0; more < 10; more++) {
            takeAll();
        }
        List<Long> rows = store.rows();
        assertEquals(
                LongStream.range(0, brought).boxed().toList(),
                (outside.isExactlyOnce() ? rows.stream() : rows.stream().distinct())
                        .sorted()
                        .toList());
    }

    /** What is known to be done with is not remembered for ever. */
    public void remembersLittle() {
        long entries = Eventually.settles("what is remembered", () -> {
            takeAll();
            return store.entries().size();
        });
        assertTrue(
                entries <= outside.mostRemembered(),
                () -> entries + " entries are remembered of " + brought + " records");
    }

    /** It comes to reject so many records, which are acknowledged with the others. */
    public void rejects(int records) {
        Eventually.holds(records + " records are rejected", () -> {
            takeAll();
            return rejected.get() >= records;
        });
    }

    @Override
    public void close() {
        stop();
    }
}
