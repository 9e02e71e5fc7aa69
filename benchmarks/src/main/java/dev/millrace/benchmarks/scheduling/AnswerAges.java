package dev.millrace.benchmarks.scheduling;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.LongUnaryOperator;

/** How long after its end a window's answer came, for each window of one query. Told on one thread, asked on another. */
final class AnswerAges implements Flow.Subscriber<Batch> {
    private final LongUnaryOperator clock;
    private long[] ends = new long[64]; // of windows, microseconds of the rows' time
    private double[] millis = new double[64];
    private int count;
    private volatile boolean isOver;
    private volatile Optional<Throwable> failure = Optional.empty(); // of the subscription

    /** @param clock how long ago a time of rows was, in microseconds */
    AnswerAges(LongUnaryOperator clock) {
        this.clock = clock;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Batch batch) {
        try (batch) {
            for (int row = 0; row < batch.rowCount(); row++) {
                told(Memory.getLong(batch.dataAddress(0) + 8L * row));
            }
        }
    }

    private synchronized void told(long end) {
        if (count == 0 || ends[count - 1] != end) {
            if (count == ends.length) {
                ends = Arrays.copyOf(ends, 2 * count);
                millis = Arrays.copyOf(millis, 2 * count);
            }
            ends[count] = end;
            millis[count++] = clock.applyAsLong(end) / 1e3;
        }
    }

    /**
     * The ages, in milliseconds, of windows that ended in a time.
     *
     * @throws IllegalStateException if the subscription failed: some are not there
     */
    synchronized double[] between(long from, long to) {
        failure.ifPresent(why -> {
            throw new IllegalStateException("a subscription failed", why);
        });
        double[] found = new double[count];
        int size = 0;
        for (int i = 0; i < count; i++) {
            if (ends[i] >= from && ends[i] < to) {
                found[size++] = millis[i];
            }
        }
        return Arrays.copyOf(found, size);
    }

    /** The subscription ends with the database. */
    void isOver() {
        isOver = true;
    }

    @Override
    public void onError(Throwable why) {
        if (!isOver) {
            failure = Optional.of(why);
        }
    }

    @Override
    public void onComplete() {}
}
