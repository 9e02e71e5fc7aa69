package dev.millrace.benchmarks.templates;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/** The answers of one template, read by a thread of its own, and how long after an event was due each was there. */
final class Application implements AutoCloseable {
    private static final long LOOK_MICROS = 20_000;

    private final Session reader;
    private final StatementResult.Changes changes;
    private final Thread reading;
    private long[] waits = new long[1 << 16]; // ns, of events that are measured
    private int count;
    private long answers; // to events that are measured and others
    private volatile boolean ending; // written by who ends it
    private volatile long fromNanos = Long.MAX_VALUE; // events due before do not count

    /** Reads the changes of {@code t<number>_answers}, whose second column is when the event was due. */
    Application(Database database, int number) {
        reader = database.session();
        changes = reader.subscribe("SUBSCRIBE TO t" + number + "_answers", OptionalLong.empty());
        reading = new Thread(this::read, "templates-reader-" + number);
        reading.start();
    }

    /** Events due from now on are measured. */
    void measureFrom(long nanos) {
        fromNanos = nanos;
    }

    private void read() {
        while (!ending) {
            Optional<EpochChanges> next = changes.next(LOOK_MICROS);
            if (next.isPresent()) {
                try (EpochChanges epoch = next.get()) {
                    epoch.batches().forEach(this::count);
                }
            }
        }
    }

    private void count(Batch batch) {
        long now = System.nanoTime();
        long dues = batch.dataAddress(1);
        for (int row = 0; row < batch.rowCount(); row++) {
            long due = Memory.getLong(dues + 8L * row);
            answers++;
            if (due >= fromNanos) {
                if (count == waits.length) {
                    waits = Arrays.copyOf(waits, 2 * count);
                }
                waits[count++] = now - due;
            }
        }
    }

    /** Of what was measured. When it is closed. */
    LongStream waits() {
        return Arrays.stream(waits, 0, count);
    }

    /** To all events. When it is closed. */
    long answers() {
        return answers;
    }

    @Override
    public void close() {
        ending = true;
        try {
            reading.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        changes.close();
        reader.close();
    }
}
