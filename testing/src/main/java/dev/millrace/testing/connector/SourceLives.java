package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.memory.Memory;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A source as the engine reads it, over and over, with crashes in between: positions are kept with the rows before them, and after a crash readers
 * go on from those. What they give in all is compared with what is there. Owned by one thread.
 */
public final class SourceLives implements AutoCloseable {
    private static final int MOST_ROWS = 60; // that are added at a time
    private static final long IMPATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SourceOutside outside;
    private final Source source;
    private final BufferAllocator allocator;
    private final Random random;
    private final List<Long> rows = new ArrayList<>();
    private final AtomicInteger rejected = new AtomicInteger();
    private List<SourceReader> readers = List.of();
    private Optional<List<SourcePosition>> kept = Optional.empty();
    private int keptRows;
    private long added;
    private boolean isImpatient;

    public SourceLives(SourceOutside outside, BufferAllocator allocator, long seed) {
        this.outside = outside;
        this.source = outside.source();
        this.allocator = allocator;
        this.random = new Random(seed);
    }

    /** Whether it does not wait long for rows: for sources that have a fault. */
    public SourceLives impatient(boolean isSo) {
        isImpatient = isSo;
        return this;
    }

    private ScanRequest request() {
        return new ScanRequest(List.of(0, 1), List.of(), 1 + random.nextInt(3), Optional.empty());
    }

    private SourceContext context() {
        return new TestSourceContext(allocator, 1 + random.nextInt(50), rejected);
    }

    /** Begins, where positions were kept last. */
    public void begin() {
        readers =
                kept.isPresent() ? source.reopen(request(), kept.get(), context()) : source.open(request(), context());
        rows.subList(keptRows, rows.size()).clear();
    }

    /** Adds rows to the outside. */
    public void add() {
        long more = 1 + random.nextInt(MOST_ROWS);
        outside.append(added, added + more);
        added += more;
    }

    /** Polls each reader once. */
    public void poll() {
        for (SourceReader reader : readers) {
            Optional<Batch> polled = reader.poll();
            if (polled.isPresent()) {
                try (Batch batch = polled.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        rows.add(Memory.getLong(batch.dataAddress(0) + 8L * row));
                    }
                }
            }
        }
    }

    /** Keeps positions, and what came before them, as a checkpoint does. */
    public void keep() {
        kept = Optional.of(readers.stream()
                .map(reader ->
                        new SourcePosition(reader.position().orElseThrow().bytes()))
                .toList());
        keptRows = rows.size();
    }

    public void crash() {
        List<SourceReader> old = readers;
        readers = List.of();
        old.forEach(SourceReader::close);
    }

    /** So many steps, at random; then all is read. */
    public void live(int steps) {
        begin();
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(8)) {
                case 0 -> add();
                case 1 -> keep();
                case 2 -> {
                    crash();
                    begin();
                }
                default -> poll();
            }
        }
        add();
        givesAll();
    }

    /** Stopped in the midst of what is there; then all is read. */
    public void goesOn() {
        add();
        add();
        add();
        begin();
        comesToGive(1);
        keep();
        crash();
        begin();
        givesAll();
    }

    private void comesToGive(long count) {
        long since = System.nanoTime();
        Eventually.holds(count + " rows are given", () -> {
            poll();
            return rows.size() >= count
                    || readers.stream().allMatch(SourceReader::isFinished)
                    || isImpatient && System.nanoTime() - since > IMPATIENCE_NANOS;
        });
    }

    /** The readers come to give each row that is there once. */
    public void givesAll() {
        comesToGive(added);
        for (int more = 0; more < 5; more++) {
            poll();
        }
        assertEquals(
                LongStream.range(0, added).boxed().toList(),
                rows.stream().sorted().toList());
    }

    /** They come to reject so many records. */
    public void rejects(int records) {
        Eventually.holds(records + " records are rejected", () -> {
            poll();
            return rejected.get() >= records;
        });
    }

    /** Nobody polls: what readers hold of what is there stays small. */
    public void holdsLittle(long mostBytes) {
        long settled = Eventually.settles("memory", allocator::getAllocatedMemory);
        assertTrue(settled <= mostBytes, () -> settled + " bytes are held of rows that nobody takes");
    }

    @Override
    public void close() {
        crash();
    }
}
