package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A source whose rows are all there, as the engine reads it, over and over, with crashes in between: positions are kept with the rows
 * before them, where all readers know one, and after a crash readers go on from those, or begin anew. What they give in all is compared
 * with what one reader gives that nobody stops. Owned by one thread.
 */
final class GivenSourceLives implements AutoCloseable {
    private static final int ALL_ROWS = 4096;
    private static final int MOST_ROWS = 50; // of a batch
    private static final int MOST_READERS = 3;

    private final Supplier<Source> made;
    private final Supplier<Source> sound;
    private final BufferAllocator allocator;
    private final Random random;
    private final AtomicInteger rejected = new AtomicInteger();
    private final List<Row> rows = new ArrayList<>();
    private List<SourceReader> readers = List.of();
    private Optional<List<SourcePosition>> kept = Optional.empty();
    private int keptRows;

    /**
     * A source that nobody has read.
     *
     * @param made the source, by each process anew
     * @param sound the same without a fault, for what it should give
     */
    GivenSourceLives(Supplier<Source> made, Supplier<Source> sound, BufferAllocator allocator, long seed) {
        this.made = made;
        this.sound = sound;
        this.allocator = allocator;
        this.random = new Random(seed);
    }

    private static ScanRequest request(Source source, int readers) {
        List<Integer> all = IntStream.range(0, source.schema().size()).boxed().toList();
        return new ScanRequest(all, List.of(), readers);
    }

    /** Begins, where positions were kept last. */
    void begin() {
        Source source = made.get();
        ScanRequest request = request(source, 1 + random.nextInt(MOST_READERS));
        TestSourceContext context = new TestSourceContext(allocator, 1 + random.nextInt(MOST_ROWS), rejected);
        readers = kept.isPresent() ? source.reopen(request, kept.get(), context) : source.open(request, context);
        rows.subList(keptRows, rows.size()).clear();
    }

    /** Polls each reader once. */
    void poll() {
        readers.forEach(reader -> poll(reader, rows));
    }

    private static void poll(SourceReader reader, List<Row> rows) {
        reader.poll().ifPresent(polled -> {
            try (Batch batch = polled) {
                rows.addAll(TestBatches.rows(batch));
            }
        });
    }

    /** Keeps positions, and what came before them, as a checkpoint does. */
    private void keep() {
        List<SourcePosition> positions =
                readers.stream().flatMap(reader -> reader.position().stream()).toList();
        if (positions.size() == readers.size()) {
            kept = Optional.of(positions);
            keptRows = rows.size();
        }
    }

    private void crash() {
        List<SourceReader> old = readers;
        readers = List.of();
        old.forEach(SourceReader::close);
    }

    /** So many steps, at random; then all is read. */
    void live(int steps) {
        begin();
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(8)) {
                case 0 -> keep();
                case 1 -> {
                    crash();
                    begin();
                }
                default -> poll();
            }
        }
        givesAll();
    }

    /** The readers come to their end, and have given each row once. */
    void givesAll() {
        readers.forEach(reader -> readToItsEnd(reader, rows));
        crash();
        List<Row> all = new ArrayList<>();
        Source source = sound.get();
        TestSourceContext context = new TestSourceContext(allocator, ALL_ROWS, new AtomicInteger());
        for (SourceReader reader : source.open(request(source, 1), context)) {
            try (reader) {
                readToItsEnd(reader, all);
            }
        }
        assertFalse(all.isEmpty(), "there are rows");
        assertEquals("", ZSet.of(all).differences(ZSet.of(rows)));
    }

    private static void readToItsEnd(SourceReader reader, List<Row> rows) {
        Eventually.holds("a reader comes to its end", () -> {
            int before = rows.size();
            poll(reader, rows);
            return rows.size() == before && reader.isFinished();
        });
    }

    int rejected() {
        return rejected.get();
    }

    @Override
    public void close() {
        crash();
    }
}
