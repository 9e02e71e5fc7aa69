package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.intake.HeldItems;
import dev.millrace.engine.intake.QueryIntakes;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Workers;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step that does not end fails its query, and a machine that lets it have no processor does not. */
@Timeout(60)
class RowTimeoutTest {
    private static final long MOST_NANOS = TimeUnit.HOURS.toNanos(1);

    private final TestClock clock = new TestClock(0);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore ends = new Semaphore(0);
    private final AtomicBoolean spins = new AtomicBoolean();

    @Test
    void timeWithoutAProcessorCountsATenth() throws InterruptedException {
        spins.set(true);
        during(task -> {
            task.runsLong();
            for (int hours = 1; hours <= 9; hours++) {
                clock.advance(TimeUnit.HOURS.toMicros(1));
                task.runsLong();
                assertEquals(null, failure.get(), hours + " hours in which it was not let");
            }
            clock.advance(TimeUnit.HOURS.toMicros(2));
            task.runsLong();
            assertTrue(
                    failure.get().getMessage().contains("row_timeout"),
                    failure.get().getMessage());
        });
    }

    @Test
    void timeThatAStepWaitsCounts() throws InterruptedException {
        during(task -> {
            Eventually.holds("it waits", ends::hasQueuedThreads);
            task.runsLong();
            clock.advance(TimeUnit.MINUTES.toMicros(59));
            task.runsLong();
            assertEquals(null, failure.get());
            clock.advance(TimeUnit.MINUTES.toMicros(2));
            task.runsLong();
            assertTrue(
                    failure.get().getMessage().contains("row_timeout"),
                    failure.get().getMessage());
        });
    }

    @Test
    void timeOnAProcessorCountsWhereItIsKnown() {
        StepTime time = new StepTime();
        time.begin(1_000, 500);
        assertEquals(300, time.look(1_300, 800, false));
        assertEquals(310, time.look(1_400, 800, false));
        assertEquals(410, time.look(1_500, 2_000, false)); // clocks differ: never more than passed
        assertEquals(510, time.look(1_600, -1, false));
        assertEquals(610, time.look(1_700, 2_100, false)); // it was not known before
        assertEquals(710, time.look(1_800, 2_100, true));
        time.begin(5_000, 2_100);
        assertEquals(0, time.look(4_900, 2_100, true));
    }

    private interface Check {
        void run(PipelineTask task);
    }

    private void during(Check check) throws InterruptedException {
        EntryStage entry = new EntryStage(new Schema(List.of(new Field("n", DataType.BIGINT, true))));
        SourceInput input =
                new SourceInput(entry, new Reader(), new Host(), false, new HeldItems(QueryIntakes.always(), clock));
        try (PipelineTask task = new PipelineTask(new Host(), List.of(entry), List.of(input))) {
            Thread runner = new Thread(() -> task.run(0, Long.MAX_VALUE), "runner");
            runner.start();
            begun.acquire();
            try {
                check.run(task);
            } finally {
                spins.set(false);
                ends.release();
                runner.join();
            }
        }
    }

    /** One step, which lasts. */
    private final class Reader implements SourceReader {
        private boolean done;

        @Override
        public Optional<Batch> poll() {
            begun.release();
            while (spins.get()) {
                Thread.onSpinWait();
            }
            ends.acquireUninterruptibly();
            done = true;
            return Optional.empty();
        }

        @Override
        public boolean isFinished() {
            return done;
        }

        @Override
        public long retryAfterMicros() {
            return 1;
        }

        @Override
        public void close() {
            // has nothing
        }
    }

    private final class Host implements TaskHost {
        private final Interrupt interrupt = new Interrupt();

        @Override
        public String name() {
            return "q";
        }

        @Override
        public int priority() {
            return 0;
        }

        @Override
        public Clock clock() {
            return clock;
        }

        @Override
        public long epochMicros(long epoch) {
            return 0;
        }

        @Override
        public Workers workers() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int batchRows() {
            return 1;
        }

        @Override
        public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void touch() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void failed(Throwable why) {
            failure.set(why);
        }

        @Override
        public long mostRowNanos() {
            return MOST_NANOS;
        }

        @Override
        public Interrupt interrupt() {
            return interrupt;
        }

        @Override
        public boolean epochEnded(PipelineTask task, long epoch) {
            return false;
        }

        @Override
        public boolean saveMore(PipelineTask task, Saving how) {
            return true;
        }

        @Override
        public boolean isCut(long epoch) {
            return false;
        }

        @Override
        public void ended(PipelineTask task) {
            // it is over
        }
    }
}
