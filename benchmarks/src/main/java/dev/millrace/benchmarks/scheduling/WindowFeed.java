package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.simulation.Delays;
import dev.millrace.server.session.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Rows of one stream as time passes: those of a twentieth of a second together, which arrive later by a delay that is drawn, in order. For a tenth of
 * the time, second by second, it brings more. Where rows are not taken at once, those that follow wait. One thread.
 */
final class WindowFeed implements AutoCloseable {
    /** The rows of how long come together. */
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final double BURSTS = .1; // of the seconds
    private static final long FIRST_MICROS = TimeUnit.SECONDS.toMicros(1_700_000_000L);

    private final Database database;
    private final Shape shape;
    private final int stream;
    private final SplittableRandom random;
    private final TimeStampMicroVector times;
    private final VectorSchemaRoot rows;
    private final long startNanos;

    /**
     * @param rate rows a second of one stream, in the mean; 0 for as many as are taken
     * @param burst how many times its mean a stream brings in some seconds
     */
    record Shape(int streams, double rate, double burst, Delays delays) {}

    /** @param columns behind the time, which stay the caller's and may be others' as well; of as many rows as may come together */
    WindowFeed(Database database, Shape shape, int stream, List<FieldVector> columns, BufferAllocator allocator) {
        this.database = database;
        this.shape = shape;
        this.stream = stream;
        this.random = new SplittableRandom(stream);
        this.times = new TimeStampMicroVector("ts", allocator);
        int most = columns.get(0).getValueCount();
        times.allocateNew(most);
        times.setValueCount(most);
        List<FieldVector> all = new ArrayList<>(List.of(times));
        all.addAll(columns);
        this.rows = new VectorSchemaRoot(all);
        this.startNanos = System.nanoTime();
    }

    /** The time, in microseconds, that a row has that is made now. */
    long micros() {
        return micros(System.nanoTime() - startNanos);
    }

    /** Windows of two streams do not all end at once. */
    private long micros(long sinceStart) {
        return FIRST_MICROS + stream * TimeUnit.SECONDS.toMicros(3) / shape.streams() + sinceStart / 1_000;
    }

    /** Feeds for some seconds; returns how many rows. */
    long feed(double seconds) {
        return shape.rate() == 0 ? feedMost(seconds) : feedInTime(seconds);
    }

    private long feedMost(double seconds) {
        long fed = 0;
        long begin = System.nanoTime() - startNanos;
        for (long made = begin; made - begin < seconds * 1e9; fed += rows.getRowCount()) {
            long until = System.nanoTime() - startNanos;
            insert(made, until, rows.getRowCount());
            made = until;
        }
        return fed;
    }

    private long feedInTime(double seconds) {
        long fed = 0;
        long arrives = 0;
        long begin = System.nanoTime() - startNanos + random.nextLong(TICK_NANOS);
        for (long made = begin; made - begin < seconds * 1e9; made += TICK_NANOS) {
            arrives = Math.max(arrives, made + TICK_NANOS + shape.delays().draw(random));
            for (long left = arrives - (System.nanoTime() - startNanos);
                    left > 0;
                    left = arrives - (System.nanoTime() - startNanos)) {
                LockSupport.parkNanos(left);
            }
            int count = count(made);
            insert(made, made + TICK_NANOS, count);
            fed += count;
        }
        return fed;
    }

    private int count(long made) {
        long second = made / TimeUnit.SECONDS.toNanos(1);
        boolean isBurst = new SplittableRandom(31L * stream + second).nextDouble() < BURSTS;
        double share = isBurst ? shape.burst() : (1 - BURSTS * shape.burst()) / (1 - BURSTS);
        return (int) Math.min(rows.getRowCount(), Math.max(1, shape.rate() * share * TICK_NANOS / 1e9));
    }

    private void insert(long from, long until, int count) {
        for (int row = 0; row < count; row++) {
            times.set(row, micros(from + (until - from) * row / count));
        }
        try (VectorSchemaRoot some = rows.slice(0, count)) {
            database.insert(WindowWorkload.stream(stream), some);
        }
    }

    @Override
    public void close() {
        times.close();
    }
}
