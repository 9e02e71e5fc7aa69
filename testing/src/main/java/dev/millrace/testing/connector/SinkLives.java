package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SinkContext;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * A sink as the engine uses it, over and over, with crashes in between: rows come in epochs, checkpoints are cut, come to nothing, or are on disk; after
 * a crash the rows behind the newest one on disk come again, in other epochs. What a reader sees is compared with what it may see. Owned by one thread.
 */
public final class SinkLives implements AutoCloseable {
    private static final int MOST_ROWS = 40; // of a batch
    private static final long IMPATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SinkOutside outside;
    private final SinkContext context;
    private final Random random;
    private Optional<CheckpointedSink> sink = Optional.empty();
    private Optional<PreparedRows> onDisk = Optional.empty(); // of the newest checkpoint
    private long onDiskRows; // that it has
    private long nextRow;
    private long committedRows; // up to the newest end of an epoch
    private long epoch;
    private long checkpoint;
    private boolean isImpatient;

    /** @param context with a home that is empty */
    public SinkLives(SinkOutside outside, SinkContext context, long seed) {
        this.outside = outside;
        this.context = context;
        this.random = new Random(seed);
    }

    /** Whether it does not wait for rows when nothing moves any more: for outsides that are quick, and sinks that have a fault. */
    public SinkLives impatient(boolean isSo) {
        isImpatient = isSo;
        return this;
    }

    /** Begins, where the newest checkpoint on disk was. */
    public void begin() {
        CheckpointedSink opened = outside.open(context);
        sink = Optional.of(opened);
        opened.recover(onDisk);
        nextRow = onDiskRows;
        committedRows = onDiskRows;
        checkpoint = onDisk.map(PreparedRows::checkpoint).orElse(0L); // numbers behind that come again
    }

    private CheckpointedSink sink() {
        return sink.orElseThrow();
    }

    /** Some rows of the epoch under way. */
    public void write() {
        List<Row> rows = new ArrayList<>();
        for (int left = 1 + random.nextInt(MOST_ROWS); left > 0; left--) {
            Object name = nextRow % 7 == 0 ? null : "name, \"" + nextRow + "\"";
            rows.add(Row.of(nextRow, name));
            nextRow++;
        }
        try (Batch batch = TestBatches.of(SinkOutside.SCHEMA, context.allocator(), rows)) {
            sink().write(batch);
        }
    }

    public void endEpoch() {
        sink().commit(++epoch);
        committedRows = nextRow;
    }

    /** Cuts a checkpoint at the end of an epoch, which is not on disk yet. */
    public PreparedRows prepare() {
        if (committedRows != nextRow) {
            endEpoch();
        }
        checkpoint += 1 + random.nextInt(3);
        return new PreparedRows(checkpoint, sink().prepare(checkpoint));
    }

    /** The checkpoint that was cut last is on disk from now on; the sink does not know. */
    public void isOnDisk(PreparedRows prepared) {
        onDisk = Optional.of(prepared);
        onDiskRows = committedRows;
    }

    /** Tells the sink. */
    public void publish() {
        sink().publish(onDisk.orElseThrow().checkpoint());
    }

    public void checkpoint() {
        isOnDisk(prepare());
        publish();
    }

    /** The process ends, as far as that can be had in a test. */
    public void crash() {
        Optional<CheckpointedSink> old = sink;
        sink = Optional.empty();
        old.ifPresent(CheckpointedSink::close);
    }

    /** Whether the sink says that it has as much as it may. */
    public boolean isFull() {
        return sink().isFull();
    }

    /** So many steps, at random; then all is shown that a checkpoint has. */
    public void live(int steps) {
        begin();
        for (int step = 0; step < steps; step++) {
            step(random.nextInt(12));
        }
        checkpoint();
        showsAll();
    }

    /** What can go wrong with a checkpoint, in few steps; the first is shown however long it takes, what comes then soon, if the sink has a fault. */
    public void goesOn(boolean isFaulty) {
        begin();
        write();
        checkpoint();
        showsAll();
        write();
        prepare(); // which comes to nothing
        staysSo();
        crash();
        begin();
        write();
        checkpoint();
        comesToShowAll(isFaulty);
        write();
        isOnDisk(prepare());
        crash();
        begin();
        comesToShowAll(isFaulty);
    }

    private void comesToShowAll(boolean isImpatient) {
        long since = System.nanoTime();
        Eventually.holds(
                onDiskRows + " rows are seen",
                () -> outside.seen().size() >= onDiskRows
                        || isImpatient && System.nanoTime() - since > IMPATIENCE_NANOS);
        showsExactly();
    }

    private void step(int choice) {
        switch (choice) {
            case 0, 1, 2, 3 -> write();
            case 4, 5 -> endEpoch();
            case 6 -> {
                prepare(); // which comes to nothing
                staysSo();
            }
            case 7 -> checkpoint();
            case 8 -> {
                checkpoint();
                publish();
            }
            case 9 -> {
                crash();
                begin();
            }
            case 10 -> {
                isOnDisk(prepare());
                crash();
                begin();
            }
            default -> {
                checkpoint();
                crash();
                begin();
            }
        }
        if (random.nextInt(4) == 0) {
            showsNothingElse();
        }
    }

    /** A reader sees each row at most once, and none that no checkpoint on disk has. */
    public void showsNothingElse() {
        List<Long> seen = outside.seen();
        assertEquals(seen.size(), new HashSet<>(seen).size(), () -> "rows are seen twice: " + seen);
        assertTrue(
                seen.stream().allMatch(id -> id >= 0 && id < onDiskRows),
                () -> "a checkpoint has rows up to " + onDiskRows + ", and these are seen: " + seen);
    }

    /** The same, when nothing moves any more. */
    public void staysSo() {
        Eventually.settles("what is seen", () -> outside.seen().size());
        showsNothingElse();
    }

    /** A reader comes to see each row that the newest checkpoint on disk has, once, and no other. */
    public void showsAll() {
        if (isImpatient) {
            Eventually.settles("what is seen", () -> outside.seen().size());
        } else {
            Eventually.holds(onDiskRows + " rows are seen", () -> outside.seen().size() >= onDiskRows);
        }
        showsExactly();
    }

    private void showsExactly() {
        List<Long> sorted = outside.seen().stream().sorted().toList();
        assertEquals(LongStream.range(0, onDiskRows).boxed().toList(), sorted);
    }

    @Override
    public void close() {
        crash();
    }
}
