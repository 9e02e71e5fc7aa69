package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.Eventually;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bank: every transfer takes from one account what it gives to another, in one append, so the sum over all accounts is
 * zero in every answer ever given, whatever path the rows took.
 */
@Timeout(60)
final class ConsistencyTest {
    private static final int ANSWERS = 200;
    private static final Schema TRANSFERS = longs("from", "to", "amount");
    private static final Schema BALANCE = longs("account", "sum");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aSumThatMustBeZeroIsZeroInEveryAnswer(int workers) throws InterruptedException {
        answers(workers, List.of("data"));
    }

    /** It joins two queries, whose rows come to it apart, and the schedule changes while they do. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void soItIsWhenTheQueryHasASchedule(int workers) throws InterruptedException {
        answers(workers, List.of("every 3 ms", "every 9 rows", "data", "every 20 ms or every 50 rows"));
    }

    private static void answers(int workers, List<String> schedules) throws InterruptedException {
        try (LocalEngine engine = EngineTest.open(workers)) {
            WritableRelation transfers = engine.relations().addStream("transfers", TRANSFERS);
            PlanNode scan = scan("transfers", TRANSFERS);
            // credit: short path; debit: through a query of its own and an exchange or two
            engine.start("credit", sum(scan, List.of(1), 2), QueryOptions.view());
            engine.start("debits", project(byHash(scan, 0), 0, 2), QueryOptions.streaming());
            engine.start(
                    "debit",
                    sum(byHash(project(scan("debits", longs("from", "amount")), 0, 1), 0), List.of(0), 1),
                    QueryOptions.view());
            engine.start("credited", sum(scan("credit", BALANCE), List.of(), 1), QueryOptions.view());
            engine.start(
                    "debited",
                    sum(TestPlans.single(byHash(scan("debit", BALANCE), 0)), List.of(), 1),
                    QueryOptions.view());
            StandingQuery both = engine.start(
                    "both",
                    join(scan("credited", longs("sum")), scan("debited", longs("sum")), 0, 0),
                    QueryOptions.view().withSchedule(Schedule.of(schedules.get(0))));
            AtomicBoolean stop = new AtomicBoolean();
            AtomicReference<Throwable> failed = new AtomicReference<>();
            List<Thread> threads = new ArrayList<>();
            threads.add(new Thread(() -> transferAtRandom(engine, transfers, stop, failed)));
            AtomicInteger read = new AtomicInteger();
            threads.add(new Thread(() -> readAtRandom(engine, read, stop, failed)));
            AtomicInteger received = new AtomicInteger();
            threads.add(new Thread(() -> subscribe(both, received, stop, failed)));
            if (schedules.size() > 1) {
                threads.add(new Thread(() -> scheduleAtRandom(both, schedules, read, stop, failed)));
            }
            threads.forEach(Thread::start);
            Eventually.holds(
                    "enough answers are read and received",
                    () -> failed.get() != null || read.get() >= ANSWERS && received.get() >= ANSWERS);
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            if (failed.get() != null) {
                throw new AssertionError(failed.get());
            }
            engine.flush(progress -> {});
            assertEquals(QueryState.RUNNING, both.state());
            assertEquals(total(engine, "credit"), total(engine, "debit"));
        }
    }

    private static void transferAtRandom(
            Engine engine, WritableRelation transfers, AtomicBoolean stop, AtomicReference<Throwable> failed) {
        SplittableRandom random = new SplittableRandom(7);
        try {
            while (!stop.get()) {
                List<Row> rows = new ArrayList<>();
                for (int i = random.nextInt(1, 20); i > 0; i--) {
                    rows.add(Row.of(random.nextInt(10), random.nextInt(10), random.nextInt(100)));
                }
                long epoch = transfers.append(TestBatches.of(TRANSFERS, engine.allocator(), rows));
                if (random.nextInt(4) == 0) {
                    engine.awaitEpoch(epoch);
                }
            }
        } catch (Throwable e) {
            failed.set(e);
        }
    }

    /** Another schedule each time that something was read. */
    private static void scheduleAtRandom(
            StandingQuery query,
            List<String> schedules,
            AtomicInteger read,
            AtomicBoolean stop,
            AtomicReference<Throwable> failed) {
        SplittableRandom random = new SplittableRandom(3);
        try {
            while (!stop.get()) {
                query.schedule(Schedule.of(schedules.get(random.nextInt(schedules.size()))));
                int before = read.get();
                Eventually.holds("something is read", () -> stop.get() || read.get() > before);
            }
        } catch (Throwable e) {
            failed.set(e);
        }
    }

    /** One pull query over two views: what was credited minus what was debited, as of one epoch. */
    private static void readAtRandom(
            Engine engine, AtomicInteger read, AtomicBoolean stop, AtomicReference<Throwable> failed) {
        try {
            while (!stop.get()) {
                PlanNode totals = union(
                        project(sum(scan("credit", BALANCE), List.of(), 1), 0),
                        project(sum(scan("debit", BALANCE), List.of(), 1), 0));
                List<Row> rows = TestPlans.answer(engine, totals).rows();
                assertEquals(2, rows.size());
                assertEquals(rows.get(0), rows.get(1), "credit and debit differ");
                read.incrementAndGet();
            }
        } catch (Throwable e) {
            failed.set(e);
        }
    }

    /** credited = debited has exactly one row after every epoch. */
    private static void subscribe(
            StandingQuery both, AtomicInteger received, AtomicBoolean stop, AtomicReference<Throwable> failed) {
        ZSet answer = new ZSet();
        try (Subscription subscription = both.subscribe(SubscriptionOptions.withSnapshot())) {
            while (!stop.get()) {
                Optional<EpochChanges> next = subscription.next(10_000);
                if (next.isPresent()) {
                    try (EpochChanges changes = next.get()) {
                        for (Batch batch : changes.batches()) {
                            answer.add(batch);
                        }
                        assertEquals(1, answer.rows().size(), "in epoch " + changes.epoch());
                        received.incrementAndGet();
                    }
                }
            }
        } catch (Throwable e) {
            failed.set(e);
        }
    }

    private static long total(Engine engine, String name) {
        return view(engine, name).rows().stream()
                .mapToLong(row -> (Long) row.get(1))
                .sum();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void queriesThatComeAndGoSeeWholeEpochsOnly(int workers) {
        try (LocalEngine engine = EngineTest.open(workers)) {
            WritableRelation transfers = engine.relations().addStream("transfers", TRANSFERS);
            PlanNode scan = scan("transfers", TRANSFERS);
            engine.start("credit", sum(scan, List.of(1), 2), QueryOptions.view());
            SplittableRandom random = new SplittableRandom(11);
            for (int round = 0; round < 30; round++) {
                transfers.append(batch(engine, TRANSFERS, Row.of(1, 2, random.nextInt(100)), Row.of(2, 1, 3)));
                StandingQuery late =
                        engine.start("late", sum(scan("credit", BALANCE), List.of(), 1), QueryOptions.view());
                transfers.append(batch(engine, TRANSFERS, Row.of(1, 3, random.nextInt(100))));
                if (random.nextBoolean()) {
                    late.pause();
                    engine.awaitEpoch(transfers.append(batch(engine, TRANSFERS, Row.of(5, 6, 1))));
                    late.resume();
                }
                engine.flush(progress -> {});
                assertEquals(
                        total(engine, "credit"),
                        view(engine, "late").rows().get(0).get(0));
                late.drop();
            }
        }
    }
}
