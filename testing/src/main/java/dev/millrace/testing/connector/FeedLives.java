package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.connector.TableFeed;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.time.Eventually;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A feed as a database runs it, again after each failure, with crashes in between. Owned by one thread. */
public final class FeedLives implements AutoCloseable {
    private static final int CRASHES = 4;
    private static final int NEVER = Integer.MAX_VALUE;
    private static final int MOST_CALLS = 6;
    private static final int KEYS = 60;
    private static final int MARK = 1_000; // a key of its own
    private static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long PATIENCE_MILLIS = 30_000;

    private final FeedOutside outside;
    private final Random random;
    private final KeptTable table = new KeptTable();
    private final Map<Integer, Integer> expected = new TreeMap<>();
    private Optional<Thread> running = Optional.empty();
    private boolean isImpatient;
    private int marks;

    public FeedLives(FeedOutside outside, long seed) {
        this.outside = outside;
        this.random = new Random(seed);
    }

    /** Whether it does not wait for rows when later ones are there: for feeds that have a fault. */
    FeedLives impatient(boolean isSo) {
        isImpatient = isSo;
        return this;
    }

    /** One transaction of the outside, at random. */
    public void change() {
        Map<Integer, Optional<Integer>> rows = new LinkedHashMap<>();
        for (int left = 1 + random.nextInt(5); left > 0; left--) {
            int id = random.nextInt(KEYS);
            if (random.nextInt(3) == 0) {
                rows.put(id, Optional.empty());
                expected.remove(id);
            } else {
                int value = random.nextInt(1_000_000);
                rows.put(id, Optional.of(value));
                expected.put(id, value);
            }
        }
        outside.change(rows);
    }

    /** Runs the feed until it is killed. */
    public void begin() {
        begin(NEVER, true);
    }

    /** Runs it until a call of its that is not far; whether that is still on disk is left to chance. */
    public void beginAndCrashSoon() {
        begin(1 + random.nextInt(MOST_CALLS), random.nextBoolean());
    }

    private void begin(int callsUntilCrash, boolean isKept) {
        TableFeed feed = outside.open();
        Thread thread = new Thread(
                () -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        try {
                            feed.run(table.run(callsUntilCrash, isKept));
                        } catch (InterruptedException e) {
                            return;
                        } catch (MillraceException e) {
                            if (callsUntilCrash < NEVER) {
                                return;
                            }
                        }
                        try {
                            TimeUnit.MILLISECONDS.sleep(100);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                },
                "feed");
        thread.start();
        running = Optional.of(thread);
    }

    /** Kills it, if it runs. */
    public void crash() {
        running.ifPresent(thread -> {
            thread.interrupt();
            try {
                thread.join(PATIENCE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            assertEquals(Thread.State.TERMINATED, thread.getState(), "the feed leaves when it is interrupted");
        });
        running = Optional.empty();
    }

    /** The table comes to have the rows of the outside, and no others. */
    public void hasAll() {
        if (isImpatient) {
            seesLaterChanges();
            Map<Integer, Integer> rows = table.rows();
            rows.remove(MARK);
            assertEquals(expected, rows);
            return;
        }
        try {
            Eventually.holds(
                    "the table is that of the outside", () -> table.rows().equals(expected));
        } catch (AssertionError e) {
            assertEquals(expected, table.rows());
            throw e;
        }
    }

    /** Waits until a change has come that was made after all others, and all is still. Those that come to nothing are made again. */
    private void seesLaterChanges() {
        int first = marks + 1;
        long since = System.nanoTime();
        do {
            outside.change(Map.of(MARK, Optional.of(++marks)));
            Eventually.settles("the table", () -> table.rows().hashCode());
        } while (table.rows().getOrDefault(MARK, 0) < first && System.nanoTime() - since < MOST_WAIT_NANOS);
        Eventually.settles("the table", () -> table.rows().hashCode());
    }

    /** Stopped and begun again, with changes in between: the table is that of the outside, and rows are read anew only where there is no position. */
    public void goesOn() {
        change();
        begin();
        hasAll();
        change();
        hasAll();
        crash();
        long replaced = table.replaced();
        change();
        change();
        begin();
        hasAll();
        if (table.hasPosition()) {
            assertEquals(replaced, table.replaced(), "it goes on from its position");
        }
    }

    /** Begun, and killed at its first or second call after changes, which is on disk or not; each time it goes on from what is. */
    public void goesOnAfterCrashes() {
        change();
        begin();
        hasAll();
        crash();
        for (int crash = 0; crash < CRASHES; crash++) {
            change();
            begin(1 + crash / 2, crash % 2 == 0);
            Thread thread = running.orElseThrow();
            change();
            Eventually.holds("a call at which it is killed", () -> !thread.isAlive());
            crash();
        }
        begin();
        hasAll();
    }

    /** So many lives, at random; then the table is that of the outside. */
    public void live(int lives) {
        for (int life = 0; life < lives; life++) {
            change();
            beginAndCrashSoon();
            for (int changes = random.nextInt(6); changes > 0; changes--) {
                change();
            }
            if (random.nextBoolean()) {
                running.ifPresent(thread -> {
                    try {
                        thread.join(random.nextInt(2_000));
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            crash();
        }
        begin();
        hasAll();
        change();
        hasAll();
    }

    @Override
    public void close() {
        try (table) {
            crash();
        }
    }
}
