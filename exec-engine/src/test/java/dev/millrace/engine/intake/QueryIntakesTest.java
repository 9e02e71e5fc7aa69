package dev.millrace.engine.intake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.channel.Item;
import dev.millrace.operator.Operator;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class QueryIntakesTest {
    private static final Schema SCHEMA = Schema.of(new Field("a", DataType.BIGINT, false));
    private static final long MOST_BYTES = 1 << 20;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final TestClock clock = new TestClock(0);
    private final Set<Long> needed = new HashSet<>();
    private final ArrayDeque<Long> timers = new ArrayDeque<>();

    private QueryIntakes intakes(String schedule, long mostBytes) {
        return new QueryIntakes(Schedule.of(schedule), mostBytes, new QueryIntakes.Host() {
            @Override
            public long nanoTime() {
                return clock.nanoTime();
            }

            @Override
            public boolean isNeeded(long epoch) {
                return needed.contains(epoch);
            }

            @Override
            public void wakeAt(long nanos) {
                timers.add(nanos);
            }
        });
    }

    private HeldItems input(QueryIntakes intakes) {
        return new HeldItems(intakes, clock);
    }

    private Item rows(int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(Row.of(i));
        }
        return new Item.Rows(TestBatches.of(SCHEMA, memory.allocator(), rows));
    }

    /** What an input gives of what comes, in its order: r for rows, w for a watermark, e and its number for an epoch's end, . for the end. */
    private static String given(HeldItems input, Item... come) {
        StringBuilder all = new StringBuilder();
        for (Item item : come) {
            drain(input, all);
            if (!input.keeps(item)) {
                append(item, all);
            }
        }
        drain(input, all);
        return all.toString();
    }

    private static void drain(HeldItems input, StringBuilder all) {
        for (Optional<Item> next = input.next(); next.isPresent(); next = input.next()) {
            append(next.get(), all);
        }
    }

    private static void append(Item item, StringBuilder all) {
        if (item instanceof Item.Rows rows) {
            rows.batch().close();
            all.append('r');
        } else if (item instanceof Item.EpochEnd end) {
            all.append('e').append(end.epoch());
        } else {
            all.append(item instanceof Item.Watermark ? "w" : item instanceof Item.End ? "." : "?");
        }
    }

    private static Item end(long epoch) {
        return new Item.EpochEnd(epoch);
    }

    @Test
    void withoutAScheduleNothingWaits() {
        try (HeldItems input = input(intakes("data", MOST_BYTES))) {
            assertEquals("rwe1re2.", given(input, rows(1), new Item.Watermark(1), end(1), rows(1), end(2), Item.END));
            assertTrue(timers.isEmpty());
        }
    }

    @Test
    void rowsWaitForTheirTimeAndEndsOfEpochsGoPastThem() {
        QueryIntakes intakes = intakes("every 10 ms", MOST_BYTES);
        try (HeldItems input = input(intakes)) {
            assertEquals("re1", given(input, rows(1), end(1))); // the first epoch is what was there before
            assertEquals("e2e3", given(input, rows(2), end(2), new Item.Watermark(7), rows(3), end(3)));
            assertEquals(5, intakes.waitingRows());
            assertEquals(List.of(10_000_000L), List.copyOf(timers)); // one deadline
            clock.advance(10_000);
            assertTrue(intakes.timeIsUp());
            assertEquals("rwre4", given(input, end(4)));
            assertEquals(0, intakes.waitingRows());
        }
    }

    @Test
    void afterALongTimeRowsDoNotWaitAtAll() {
        try (HeldItems input = input(intakes("every 10 ms", MOST_BYTES))) {
            given(input, rows(1), end(1));
            clock.advance(50_000);
            assertEquals("rre2e3", given(input, rows(1), rows(1), end(2), rows(1), end(3)));
            assertEquals(1, input.rows());
        }
    }

    @Test
    void enoughRowsEndTheWaiting() {
        try (HeldItems input = input(intakes("every 5 rows", MOST_BYTES))) {
            given(input, end(1));
            assertEquals("e2e3", given(input, rows(2), end(2), rows(2), end(3)));
            assertEquals("rrrre4", given(input, rows(1), rows(4), end(4)));
            assertEquals("e5", given(input, rows(4), end(5)));
            assertTrue(timers.isEmpty());
        }
    }

    @Test
    void moreThanMayWaitDoesNot() {
        try (HeldItems input = input(intakes("every 1 h", 1))) {
            given(input, end(1));
            assertEquals("re2", given(input, rows(1), end(2)));
        }
    }

    @Test
    void anEpochThatIsNeededIsAnIntake() {
        needed.add(3L);
        try (HeldItems input = input(intakes("every 1 h", MOST_BYTES))) {
            assertEquals("e1e2rre3e4", given(input, end(1), rows(1), end(2), rows(1), end(3), rows(1), end(4)));
        }
    }

    @Test
    void whatIsAskedForIsAnIntakeUpToTheEpochThatIsTouched() {
        QueryIntakes intakes = intakes("every 1 h", MOST_BYTES);
        try (HeldItems input = input(intakes)) {
            assertEquals("e1e2", given(input, end(1), rows(1), end(2)));
            intakes.beginAsking();
            assertEquals("re3", given(input, end(3)));
            intakes.endAsking(4);
            assertEquals("re4e5", given(input, rows(1), end(4), rows(1), end(5)));
        }
    }

    @Test
    void theEndOfAnInputComesBehindWhatWaits() {
        QueryIntakes intakes = intakes("every 1 h", MOST_BYTES);
        try (HeldItems input = input(intakes);
                HeldItems other = input(intakes)) {
            given(input, end(1));
            given(other, end(1));
            given(input, rows(1), end(2));
            given(other, end(2));
            assertEquals("e3", given(other, end(3)));
            // nobody ends epochs on the first any more: it passes the third as the other did, and is then at its end
            assertEquals("e3rw.", given(input, new Item.Watermark(Operator.END_OF_INPUT), Item.END));
        }
    }

    /** Inputs that are apart, epochs that are needed, asked for and published, changes of the schedule while all are at rest. */
    @Test
    void atEachIntakeAllInputsHaveLetThroughWhatCameBeforeItAndNoneOfWhatCameAfter() {
        long seed = System.nanoTime();
        for (int round = 0; round < 300; round++) {
            new Run(seed + round).check();
        }
    }

    private final class Run {
        private static final int EPOCHS = 60;
        private final long seed;
        private final SplittableRandom random;
        private final QueryIntakes intakes;
        private final List<HeldItems> inputs = new ArrayList<>();
        private final List<List<Item>> come = new ArrayList<>();
        private final int[] place;
        private final int[][] before; // rows that came to an input before the end of an epoch
        private final int[] given;
        private final long[] passed;
        private final boolean[] isIntake = new boolean[EPOCHS + 1];
        private int decided; // the last epoch of which some input has passed the end

        Run(long seed) {
            this.seed = seed;
            this.random = new SplittableRandom(seed);
            String[] schedules = {"every 3 ms", "every 7 rows", "every 5 ms or 9 rows", "every 1 h", "data"};
            needed.clear();
            for (long epoch = 1; epoch <= EPOCHS; epoch++) {
                if (random.nextInt(12) == 0 || epoch == EPOCHS) {
                    needed.add(epoch);
                }
            }
            intakes = intakes(schedules[random.nextInt(schedules.length)], random.nextInt(3) == 0 ? 200 : MOST_BYTES);
            int count = random.nextInt(1, 5);
            place = new int[count];
            given = new int[count];
            passed = new long[count];
            before = new int[count][EPOCHS + 1];
            for (int input = 0; input < count; input++) {
                inputs.add(input(intakes));
                List<Item> items = new ArrayList<>();
                int rows = 0;
                for (int epoch = 1; epoch <= EPOCHS; epoch++) {
                    for (int batches = random.nextInt(3); batches > 0; batches--) {
                        items.add(rows(random.nextInt(1, 4)));
                        rows++;
                    }
                    items.add(end(epoch));
                    before[input][epoch] = rows;
                }
                come.add(items);
            }
        }

        void check() {
            boolean more = true;
            while (more) {
                more = false;
                for (int input = 0; input < inputs.size(); input++) {
                    // an input is at most three epochs ahead of another
                    boolean ahead = passed[input] > least() + 3;
                    if (place[input] < come.get(input).size() && !ahead && random.nextInt(3) > 0) {
                        step(input);
                    }
                    more |= place[input] < come.get(input).size();
                }
                clock.advance(random.nextInt(500));
                if (random.nextInt(20) == 0) {
                    intakes.ask();
                }
                if (random.nextInt(10) == 0) {
                    intakes.timeIsUp();
                }
                intakes.published(least());
            }
            for (int input = 0; input < inputs.size(); input++) {
                assertEquals(before[input][EPOCHS], given[input], "seed " + seed);
                inputs.get(input).close();
            }
        }

        private long least() {
            long least = Long.MAX_VALUE;
            for (long each : passed) {
                least = Math.min(least, each);
            }
            return least;
        }

        private void step(int input) {
            HeldItems held = inputs.get(input);
            Item item = come.get(input).get(place[input]++);
            if (!held.keeps(item)) {
                pass(input, item);
            }
            for (Optional<Item> next = held.next(); next.isPresent(); next = held.next()) {
                pass(input, next.get());
            }
        }

        private void pass(int input, Item item) {
            if (item instanceof Item.Rows rows) {
                given[input]++;
                rows.batch().close();
                return;
            }
            int epoch = (int) ((Item.EpochEnd) item).epoch();
            assertEquals(passed[input] + 1, epoch, "seed " + seed);
            passed[input] = epoch;
            if (epoch > decided) {
                isIntake[epoch] = intakes.isIntake(epoch);
                decided = epoch;
            } else {
                assertEquals(isIntake[epoch], intakes.isIntake(epoch), "seed " + seed);
            }
            assertTrue(isIntake[epoch] || !needed.contains((long) epoch), "seed " + seed);
            int last = epoch;
            while (last > 0 && !isIntake[last]) {
                last--;
            }
            assertEquals(before[input][last], given[input], "input " + input + " at epoch " + epoch + ", seed " + seed);
        }
    }
}
