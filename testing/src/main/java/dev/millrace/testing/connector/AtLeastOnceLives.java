package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A sink as the engine uses it that writes at least once, over and over, with crashes in between: rows come in epochs; a checkpoint has
 * those of all that were committed; after a crash the rows behind it come again, in other epochs. What came to the outside is compared
 * with what may have come. Owned by one thread.
 */
final class AtLeastOnceLives implements AutoCloseable {
    private static final int MOST_ROWS = 40; // of a batch
    private static final long PATIENCE_SECONDS = 60;

    private final AtLeastOnceOutside outside;
    private final SinkContext context;
    private final Random random;
    private Optional<Sink> sink = Optional.empty();
    private long nextRow;
    private long committedRows; // up to the newest end of an epoch
    private long onDiskRows; // that the newest checkpoint has
    private int onDiskCame; // what had come when that was made
    private long mostRows; // that were ever written
    private long epoch;

    AtLeastOnceLives(AtLeastOnceOutside outside, SinkContext context, long seed) {
        this.outside = outside;
        this.context = context;
        this.random = new Random(seed);
    }

    /** Begins, behind the newest checkpoint. */
    void begin() {
        sink = Optional.of(outside.open(context));
        nextRow = onDiskRows;
        committedRows = onDiskRows;
    }

    private Sink sink() {
        return sink.orElseThrow();
    }

    /** Some rows of the epoch under way. */
    void write() {
        write(1 + random.nextInt(MOST_ROWS), Optional.empty());
    }

    private void write(int count, Optional<String> lastName) {
        List<Row> rows = new ArrayList<>();
        for (int left = count; left > 0; left--) {
            rows.add(Row.of(nextRow, left == 1 ? lastName.orElse("n") : "n"));
            nextRow++;
        }
        mostRows = Math.max(mostRows, nextRow);
        try (Batch batch = TestBatches.of(AtLeastOnceOutside.SCHEMA, context.allocator(), rows)) {
            sink().write(batch);
        }
    }

    /** Ends the epoch: all of it has come, in its order. */
    void commit() {
        sink().commit(++epoch);
        committedRows = nextRow;
        hasCome();
    }

    /** Ends the epoch, and has a checkpoint of all on disk. */
    void checkpoint() {
        commit();
        onDiskRows = committedRows;
        onDiskCame = outside.came().size();
    }

    void crash() {
        Optional<Sink> old = sink;
        sink = Optional.empty();
        old.ifPresent(Sink::close);
    }

    /**
     * All rows of epochs that were committed came, in their order; what came again is of no checkpoint, and all that is behind it came
     * again too.
     */
    void hasCome() {
        List<Long> came = outside.came();
        for (int at = 0; at < came.size(); at++) {
            long before = at == 0 ? -1 : came.get(at - 1);
            long id = came.get(at);
            assertTrue(id >= 0 && id <= before + 1 && id < mostRows, () -> id + " came behind " + before + ": " + came);
            assertTrue(
                    at < onDiskCame || id >= onDiskRows,
                    () -> id + " came again, which a checkpoint of " + onDiskRows + " rows has");
        }
        long rows = came.stream().mapToLong(id -> id + 1).max().orElse(0);
        assertTrue(rows >= committedRows, () -> committedRows + " rows are committed, and " + rows + " came");
    }

    /** So many steps, at random. */
    void live(int steps) {
        begin();
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(12)) {
                case 0, 1 -> commit();
                case 2 -> checkpoint();
                case 3 -> {
                    crash();
                    begin();
                }
                case 4, 5 -> outside.stumbles(random.nextInt(Integer.MAX_VALUE));
                default -> write();
            }
        }
        checkpoint();
    }

    /** The epoch under way, and all that is to come of it, waits for an outside that is away, and says so. */
    void isWaitedFor() {
        Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
        comesBack();
    }

    private void comesBack() {
        FutureTask<Void> commit = commitOfMore();
        new Thread(commit, "the sink's").start();
        try {
            saysThatItWaits(commit);
        } finally {
            outside.comes();
        }
        assertDoesNotThrow(() -> commit.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        committedRows = nextRow;
        hasCome();
    }

    /** Whoever waits for an outside that is away gives up when it is interrupted; its rows come again. */
    void isInterrupted() {
        Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
        FutureTask<Void> commit = commitOfMore();
        Thread thread = new Thread(commit, "the sink's");
        thread.start();
        try {
            saysThatItWaits(commit);
            thread.interrupt();
            ExecutionException ended =
                    assertThrows(ExecutionException.class, () -> commit.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            assertTrue(ended.getCause() instanceof MillraceException, ended::toString);
            crash();
        } finally {
            outside.comes();
        }
        begin();
        write();
        checkpoint();
    }

    /** Some more rows and the end of the epoch, for a thread that may wait. */
    private FutureTask<Void> commitOfMore() {
        return new FutureTask<>(() -> {
            write();
            sink().commit(++epoch);
            return null;
        });
    }

    private void saysThatItWaits(FutureTask<Void> commit) {
        Eventually.holds(
                "the sink says that rows wait, and why",
                () -> commit.isDone()
                        || sink().status()
                                .filter(status -> status.waiting() > 0
                                        && (status.lastError().isPresent()
                                                || status.waitsFor().isPresent()))
                                .isPresent());
        if (commit.isDone()) {
            assertDoesNotThrow(() -> commit.get());
            fail("an epoch is committed whose outside is away");
        }
    }

    /** A row that is refused for good fails the sink; when it is another one, all comes. */
    void isRefused() {
        Assumptions.assumeTrue(outside.refused().isPresent(), "this outside takes all");
        checkpoint();
        write();
        MillraceException refused = assertThrows(MillraceException.class, () -> {
            write(2, outside.refused());
            sink().commit(++epoch);
        });
        assertFalse(String.valueOf(refused.getMessage()).isEmpty());
        crash();
        begin();
        write(MOST_ROWS + 2, Optional.empty()); // all that came before, as it should have been
        checkpoint();
        assertEquals(nextRow, onDiskRows);
    }

    /** All that a fault may show itself by, in few steps. */
    void goesOn() {
        begin();
        write();
        commit();
        write();
        write();
        checkpoint();
        write();
        crash();
        begin();
        write();
        write();
        checkpoint();
        if (outside.goes()) {
            comesBack();
        }
        if (outside.refused().isPresent()) {
            isRefused();
        }
    }

    @Override
    public void close() {
        crash();
    }
}
