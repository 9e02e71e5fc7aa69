package dev.millrace.benchmarks.suite;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Session;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Rows that one client inserts at a steady rate beside a load, and how long each takes from when it was due until another, which
 * subscribes to a query over them, has it. Two threads of its own; the first second is not counted.
 */
final class InsertProbe implements AutoCloseable {
    private static final long UNCOUNTED_NANOS = 1_000_000_000L;
    private static final long LOOK_MICROS = 20_000;

    private final Thread inserting;
    private final Thread reading;
    private final long periodNanos;
    private final long startNanos = System.nanoTime();
    private volatile boolean ending; // written by who closes it, read by its threads
    private long[] waits = new long[1 << 12]; // the reading thread's until it has ended
    private int count;

    /** @param perSecond rows, one a statement */
    InsertProbe(SuiteDatabase database, int perSecond) {
        database.execute("CREATE STREAM probe (due BIGINT NOT NULL);"
                + " CREATE CONTINUOUS QUERY probed AS SELECT due FROM probe WHERE due >= 0");
        this.periodNanos = 1_000_000_000L / perSecond;
        Session reader = database.another();
        StatementResult.Changes changes = reader.subscribe("SUBSCRIBE TO probed", OptionalLong.empty());
        Session writer = database.another();
        this.reading = new Thread(() -> read(reader, changes), "probe-reader");
        this.inserting = new Thread(() -> insert(writer), "probe-writer");
        reading.start();
        inserting.start();
    }

    private void insert(Session session) {
        try (session) {
            for (long due = startNanos; !ending; due += periodNanos) {
                for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                    LockSupport.parkNanos(due - now);
                }
                try (StatementResults results =
                        session.execute("INSERT INTO probe VALUES (" + (due - startNanos) + ")")) {
                    while (results.hasNext()) {
                        results.next().close();
                    }
                }
            }
        }
    }

    private void read(Session session, StatementResult.Changes changes) {
        try (session;
                changes) {
            while (!ending) {
                Optional<EpochChanges> next = changes.next(LOOK_MICROS);
                if (next.isPresent()) {
                    try (EpochChanges epoch = next.get()) {
                        epoch.batches().forEach(this::count);
                    }
                }
            }
        }
    }

    private void count(Batch batch) {
        long now = System.nanoTime() - startNanos;
        for (int row = 0; row < batch.rowCount(); row++) {
            long due = Memory.getLong(batch.dataAddress(0) + 8L * row);
            if (due >= UNCOUNTED_NANOS) {
                if (count == waits.length) {
                    waits = Arrays.copyOf(waits, 2 * count);
                }
                waits[count++] = now - due;
            }
        }
    }

    /** The wait in milliseconds that so large a part of the rows did not exceed; once it is closed. */
    double millis(double part) {
        long[] sorted = Arrays.copyOf(waits, count);
        Arrays.sort(sorted);
        return count == 0 ? 0 : sorted[(int) Math.min(count - 1, (long) (count * part))] / 1e6;
    }

    @Override
    public void close() {
        ending = true;
        try {
            inserting.join();
            reading.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
