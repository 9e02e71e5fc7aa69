package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.MemoryCheckpoint;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that go on from checkpoints of others. */
@Timeout(120)
@Tag("long")
final class CheckpointTest {
    private static final Schema KV = longs("k", "v");
    private static final Schema TIMED = longs("ts", "k");

    private static Engine open(int workers) {
        return open(workers, Journal.NONE);
    }

    private static Engine open(int workers, Journal journal) {
        return Engine.open(
                EngineOptions.defaults().withWorkers(workers).withMemoryLimitBytes(256L << 20),
                Clock.system(),
                journal);
    }

    /** Counts what is accepted. Its number is looked at while nobody is accepted, as it is written. */
    private static final class Count implements Journal {
        private long entries;

        @Override
        public Entry prepare(List<Change> changes) {
            return new Entry() {
                @Override
                public long append() {
                    return ++entries;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void whenDurable(long number, Runnable then) {
            then.run();
        }
    }

    /** Keys, how many rows there are, and the greatest value. */
    private static PlanNode totals(PlanNode input, List<Integer> keys, int value) {
        List<Field> fields = new ArrayList<>(input.schema().select(keys).fields());
        fields.add(new Field("n", DataType.BIGINT, false));
        fields.add(new Field("most", DataType.BIGINT, true));
        return new PlanNode.Aggregate(
                input,
                keys,
                List.of(
                        AggregateTests.call(Function.COUNT, DataType.BIGINT),
                        AggregateTests.call(Function.MAX, DataType.BIGINT, value)),
                PlanNode.Phase.SINGLE,
                false,
                new Schema(fields));
    }

    /** Relations and queries, each query after those it reads. */
    private static Map<String, PlanNode> declare(Engine engine) {
        engine.relations().addStream("s", KV);
        engine.relations().addTable("t", KV);
        engine.relations().addStream("e", TIMED);
        Map<String, PlanNode> plans = new LinkedHashMap<>();
        plans.put("sums", totals(byHash(scan("s", KV), 0), List.of(0), 1));
        Schema sums = plans.get("sums").schema();
        plans.put("by_sum", totals(byHash(scan("sums", sums), 1), List.of(1), 0));
        plans.put("joined", join(byHash(scan("s", KV), 0), byHash(scan("t", KV), 0), 0, 0));
        Schema joined = plans.get("joined").schema();
        plans.put("of_joined", totals(byHash(scan("joined", joined), 1), List.of(1), 3));
        plans.put("pairs", join(byHash(scan("s", KV), 0), byHash(scan("e", TIMED), 1), 0, 1));
        plans.put("both", totals(byHash(union(scan("s", KV), scan("t", KV)), 0), List.of(0), 1));
        plans.put(
                "windows",
                TestPlans.countPerWindow(single(TestPlans.watermark(scan("e", TIMED), 0, 50, 0, 100)), 0, 100));
        plans.forEach((name, plan) -> engine.start(name, plan, QueryOptions.view()));
        return plans;
    }

    private static Map<String, ZSet> answers(Engine engine, Map<String, PlanNode> plans) {
        Map<String, ZSet> answers = new LinkedHashMap<>();
        plans.keySet().forEach(name -> answers.put(name, view(engine, name)));
        answers.put("t", view(engine, "t"));
        return answers;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void requireRunning(Engine engine, Map<String, PlanNode> plans) {
        plans.keySet().forEach(name -> {
            engine.query(name).failure().ifPresent(why -> {
                throw new AssertionError(name, why);
            });
            assertEquals(QueryState.RUNNING, engine.query(name).state(), name);
        });
    }

    /** Rows of several relations that belong together. */
    private record Change(Map<String, List<Row>> rows, long[] tableWeights) {
        static Change random(SplittableRandom random, List<Row> inTable, AtomicInteger clock) {
            Map<String, List<Row>> rows = new LinkedHashMap<>();
            rows.put("s", kv(random));
            List<Row> table = kv(random);
            int added = table.size();
            while (!inTable.isEmpty() && random.nextInt(3) == 0) {
                table.add(inTable.remove(random.nextInt(inTable.size())));
            }
            inTable.addAll(table.subList(0, added));
            rows.put("t", table);
            rows.put(
                    "e",
                    IntStream.range(0, random.nextInt(4))
                            .mapToObj(i -> Row.of((long) clock.addAndGet(random.nextInt(30)), 1L))
                            .toList());
            long[] weights = new long[table.size()];
            Arrays.fill(weights, 0, added, 1);
            Arrays.fill(weights, added, weights.length, -1);
            return new Change(rows, weights);
        }

        private static List<Row> kv(SplittableRandom random) {
            List<Row> rows = new ArrayList<>();
            for (int left = random.nextInt(1, 6); left > 0; left--) {
                rows.add(Row.of((long) random.nextInt(10), (long) random.nextInt(5)));
            }
            return rows;
        }

        void append(Engine engine) {
            Map<String, List<Batch>> batches = new LinkedHashMap<>();
            rows.forEach((name, some) -> {
                Schema schema = engine.relations().schema(name);
                batches.put(
                        name,
                        List.of(
                                name.equals("t")
                                        ? TestBatches.weighted(schema, engine.allocator(), some, tableWeights)
                                        : TestBatches.of(schema, engine.allocator(), some)));
            });
            engine.append(batches);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void allQueriesGoOnWhileRowsFlow(int seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        MemoryCheckpoint saved = new MemoryCheckpoint();
        List<Change> changes = new ArrayList<>();
        Count journal = new Count();
        AtomicLong first = new AtomicLong(); // that the checkpoint lacks
        Map<String, ZSet> expected;
        try (Engine engine = open(random.nextInt(1, 4), journal)) {
            Map<String, PlanNode> plans = declare(engine);
            AtomicInteger appended = new AtomicInteger();
            List<Row> inTable = new ArrayList<>();
            AtomicInteger clock = new AtomicInteger();
            CountDownLatch written = new CountDownLatch(1);
            Thread feeder = new Thread(() -> {
                for (int i = 0; i < 320; i++) {
                    if (i == 300) {
                        awaitQuietly(written); // some rows come after the checkpoint, however long it takes
                    }
                    Change change = Change.random(random, inTable, clock);
                    changes.add(change);
                    change.append(engine);
                    appended.incrementAndGet();
                }
            });
            feeder.start();
            Eventually.holds("rows flow", () -> appended.get() > 100);
            CheckpointSummary summary = engine.checkpoint(saved, () -> first.set(journal.entries));
            written.countDown();
            assertEquals(saved.size(), summary.bytes());
            feeder.join();
            engine.flush(progress -> {});
            requireRunning(engine, plans);
            expected = answers(engine, plans);
        }
        try (Engine engine = open(new SplittableRandom(~seed).nextInt(1, 4))) {
            Map<String, PlanNode> plans;
            try (Resumption resumption = engine.restore(saved)) {
                plans = declare(engine);
                assertEquals(Map.of(), resumption.begunAnew());
            }
            assertTrue(first.get() < changes.size(), "rows flowed meanwhile");
            changes.subList((int) first.get(), changes.size()).forEach(change -> change.append(engine));
            engine.flush(progress -> {});
            requireRunning(engine, plans);
            Map<String, ZSet> found = answers(engine, plans);
            expected.forEach((name, rows) -> assertEquals(rows, found.get(name), name));
        }
    }

    /** A checkpoint of some random changes, those that came after it, and the answers in the end. */
    private static final class Past {
        final MemoryCheckpoint saved = new MemoryCheckpoint();
        final List<Change> behind = new ArrayList<>();
        Map<String, ZSet> expected = Map.of();
        ZSet table = new ZSet();

        Past(SplittableRandom random) {
            List<Row> inTable = new ArrayList<>();
            AtomicInteger clock = new AtomicInteger();
            try (Engine engine = open(2)) {
                Map<String, PlanNode> plans = declare(engine);
                for (int i = 0; i < 30; i++) {
                    Change.random(random, inTable, clock).append(engine);
                }
                engine.checkpoint(saved, () -> {});
                for (int i = 0; i < 30; i++) {
                    Change change = Change.random(random, inTable, clock);
                    change.append(engine);
                    behind.add(change);
                }
                engine.flush(progress -> {});
                expected = answers(engine, plans);
                table = view(engine, "t");
            }
        }
    }

    /** Whether a section has state of a query that its tasks wait for. */
    private static boolean isAwaited(String section) {
        return section.startsWith("state ") && (section.endsWith(" sums") || section.endsWith(" windows"));
    }

    /** Rows that come before queries have their state are in their answers when they have; whose rows are there can be read. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void rowsComeWhileStatesAreRead(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Past past = new Past(random);
        CountDownLatch states = new CountDownLatch(1);
        try (Engine engine = open(random.nextInt(1, 4))) {
            Map<String, PlanNode> plans;
            try (Resumption resumption = engine.restoreSideBySide(section -> {
                if (isAwaited(section)) {
                    awaitQuietly(states);
                }
                return past.saved.open(section);
            })) {
                plans = declare(engine);
                assertEquals(Map.of(), resumption.begunAnew());
                resumption.declared();
                past.behind.forEach(change -> change.append(engine));
                long last = engine.append(Map.of(
                        "t", List.of(TestBatches.of(KV, engine.allocator(), List.of(Row.of(-1L, -1L))))));
                engine.awaitEpoch(last, List.of("t"));
                ZSet table = view(engine, "t");
                table.add(Row.of(-1L, -1L), -1);
                assertEquals(past.table, table);
                states.countDown();
                resumption.await();
            }
            engine.flush(progress -> {});
            requireRunning(engine, plans);
            Map<String, ZSet> found = answers(engine, plans);
            for (String name : List.of("sums", "by_sum", "windows")) {
                assertEquals(past.expected.get(name), found.get(name), name);
            }
        }
    }

    /** Who brings more than waits for a query without its state waits, too, until that is there or will never be. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoBringsMoreThanWaitsForAStateWaitsForItToo(boolean fails) throws Exception {
        Past past = new Past(new SplittableRandom(1));
        CountDownLatch states = new CountDownLatch(1);
        int batches = 400;
        long rows = 10_000;
        EngineOptions options = EngineOptions.defaults().withWorkers(2).withMemoryLimitBytes(128L << 20);
        try (Engine engine = Engine.open(options, Clock.system(), Journal.NONE)) {
            AtomicInteger appended = new AtomicInteger();
            Thread appender = new Thread(() -> {
                for (int i = 0; i < batches; i++) {
                    List<Row> batch = LongStream.range(0, rows)
                            .mapToObj(row -> Row.of(1L, row))
                            .toList();
                    engine.append(Map.of("s", List.of(TestBatches.of(KV, engine.allocator(), batch))));
                    appended.incrementAndGet();
                }
            });
            try (Resumption resumption = engine.restoreSideBySide(section -> {
                if (isAwaited(section)) {
                    awaitQuietly(states);
                    if (fails) {
                        throw new EOFException("cut short");
                    }
                }
                return past.saved.open(section);
            })) {
                declare(engine);
                resumption.declared();
                appender.start();
                Eventually.holds(
                        "the appender waits",
                        () -> appender.getState() == Thread.State.TIMED_WAITING && appended.get() > 50);
                int then = appended.get();
                assertTrue(then < batches, "all " + then + " batches wait in memory");
                states.countDown();
                if (fails) {
                    assertThrows(MillraceException.class, resumption::await);
                } else {
                    resumption.await();
                }
                appender.join();
            }
            assertEquals(batches, appended.get());
            QueryState state = engine.query("sums").state();
            assertEquals(fails ? QueryState.FAILED : QueryState.RUNNING, state);
            if (!fails) {
                engine.flush(progress -> {});
                long counted = view(engine, "sums").rows().stream()
                        .mapToLong(row -> (Long) row.get(1))
                        .sum();
                assertTrue(counted > batches * rows, "only " + counted + " rows");
            }
        }
    }

    /** Rows that are kept, and have not changed since the checkpoint before, are not written again. */
    @Test
    void whatDidNotChangeIsKeptOfTheCheckpointBefore() {
        MemoryCheckpoint third;
        Map<String, ZSet> expected;
        try (Engine engine = open(2)) {
            Map<String, PlanNode> plans = declare(engine);
            SplittableRandom random = new SplittableRandom(1);
            Change.random(random, new ArrayList<>(), new AtomicInteger()).append(engine);
            MemoryCheckpoint first = new MemoryCheckpoint();
            engine.checkpoint(first, () -> {});
            append(engine, "s", Row.of(1L, 1L));
            MemoryCheckpoint second = new MemoryCheckpoint(first);
            CheckpointSummary summary = engine.checkpoint(second, () -> {});
            assertEquals(second.size(), summary.bytes());
            assertTrue(second.kept().containsAll(Set.of("rows t", "kept windows")), () -> "kept " + second.kept());
            assertFalse(second.kept().contains("kept sums"));
            append(engine, "t", Row.of(1L, 1L));
            third = new MemoryCheckpoint(second);
            engine.checkpoint(third, () -> {});
            assertTrue(third.kept().containsAll(Set.of("kept sums", "kept windows")), () -> "kept " + third.kept());
            assertFalse(third.kept().contains("rows t"));
            expected = answers(engine, plans);
        }
        try (Engine engine = open(3)) {
            Map<String, PlanNode> plans;
            try (Resumption resumption = engine.restore(third)) {
                plans = declare(engine);
                assertEquals(Map.of(), resumption.begunAnew());
            }
            assertEquals(expected, answers(engine, plans));
        }
    }

    private static void append(Engine engine, String relation, Row row) {
        Schema schema = engine.relations().schema(relation);
        engine.append(Map.of(relation, List.of(TestBatches.of(schema, engine.allocator(), List.of(row)))));
        engine.flush(progress -> {});
    }

    /** One after the other, each on top of the one before, while rows come; one goes on from the last, on other workers. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void severalCheckpointsFollowEachOther(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemoryCheckpoint newest = new MemoryCheckpoint();
        List<Row> inTable = new ArrayList<>();
        AtomicInteger clock = new AtomicInteger();
        List<Consumer<Engine>> done = new ArrayList<>(); // all that was appended
        boolean anyStateIsKept = false;
        Map<String, ZSet> expected = Map.of();
        for (int life = 0; life < 3; life++) {
            try (Engine engine = open(random.nextInt(1, 4))) {
                Map<String, PlanNode> plans;
                if (life == 0) {
                    plans = declare(engine);
                } else {
                    try (Resumption resumption = engine.restore(newest)) {
                        plans = declare(engine);
                        assertEquals(Map.of(), resumption.begunAnew());
                    }
                    assertEquals(expected, answers(engine, plans));
                }
                for (int i = 0; i < 5; i++) {
                    for (int left = random.nextInt(3); left > 0; left--) {
                        Change change = Change.random(random, inTable, clock);
                        doTo(engine, change::append, done);
                    }
                    if (random.nextBoolean()) {
                        Row row = Row.of((long) random.nextInt(10), 1L);
                        doTo(engine, to -> append(to, "s", row), done);
                    }
                    if (random.nextInt(3) == 0) { // it comes to nothing after it was written, or in the midst
                        writeInVain(engine, new MemoryCheckpoint(newest), random);
                        Row row = Row.of((long) random.nextInt(10), 2L);
                        doTo(engine, to -> append(to, "s", row), done);
                    }
                    newest = random.nextInt(8) == 0 ? new MemoryCheckpoint() : new MemoryCheckpoint(newest);
                    engine.checkpoint(newest, () -> {});
                    anyStateIsKept |= newest.kept().stream().anyMatch(name -> name.startsWith("state "));
                }
                engine.flush(progress -> {});
                requireRunning(engine, plans);
                expected = answers(engine, plans);
            }
        }
        assertTrue(anyStateIsKept);
        try (Engine engine = open(2)) { // one that had all of it, and no checkpoint
            Map<String, PlanNode> plans = declare(engine);
            done.forEach(each -> each.accept(engine));
            engine.flush(progress -> {});
            assertEquals(answers(engine, plans), expected);
        }
    }

    private static void doTo(Engine engine, Consumer<Engine> what, List<Consumer<Engine>> done) {
        what.accept(engine);
        done.add(what);
    }

    private static void writeInVain(Engine engine, MemoryCheckpoint next, SplittableRandom random) {
        AtomicInteger left = new AtomicInteger(random.nextInt(200));
        AtomicInteger asked = new AtomicInteger(random.nextBoolean() ? random.nextInt(10) : Integer.MAX_VALUE);
        CheckpointWriter writer = new CheckpointWriter() {
            @Override
            public boolean has(SectionContents contents) {
                if (asked.getAndDecrement() == 0) { // before anything was frozen
                    throw MillraceException.external(SqlState.IO_ERROR, "it is gone");
                }
                return next.has(contents);
            }

            @Override
            public boolean keep(SectionContents contents) {
                return next.keep(contents);
            }

            @Override
            public void begin(String section) {
                next.begin(section);
            }

            @Override
            public void write(ByteBuffer bytes) throws IOException {
                if (left.getAndDecrement() == 0) {
                    throw new IOException("no space left");
                }
                next.write(bytes);
            }
        };
        try {
            engine.checkpoint(writer, () -> {});
        } catch (MillraceException e) {
            assertEquals(SqlState.IO_ERROR, e.sqlState());
        }
    }

    /** What was frozen last is still what is kept, though it was asked for once more. */
    @Test
    void aCheckpointThatFailsBeforeAnythingIsFrozenChangesNothing() {
        PlanNode pairs = join(byHash(scan("s", KV), 0), byHash(scan("e", TIMED), 0), 0, 0);
        MemoryCheckpoint newest = new MemoryCheckpoint();
        try (Engine engine = open(1)) {
            engine.relations().addStream("s", KV);
            engine.relations().addStream("e", TIMED);
            engine.start("pairs", pairs, QueryOptions.view());
            engine.start("same", pairs, QueryOptions.view());
            append(engine, "s", Row.of(1L, 1L));
            engine.checkpoint(newest, () -> {});
            append(engine, "s", Row.of(1L, 2L));
            newest = new MemoryCheckpoint(newest);
            engine.checkpoint(newest, () -> {});
            assertFalse(newest.kept().isEmpty());
            MemoryCheckpoint next = new MemoryCheckpoint(newest);
            Set<String> asked = new HashSet<>();
            CheckpointWriter failing = new CheckpointWriter() {
                @Override
                public boolean has(SectionContents contents) {
                    asked.add(contents.section().substring(contents.section().lastIndexOf(' ')));
                    if (asked.size() == 2) { // the other query's were asked for before
                        throw MillraceException.external(SqlState.IO_ERROR, "it is gone");
                    }
                    return next.has(contents);
                }

                @Override
                public boolean keep(SectionContents contents) {
                    throw new AssertionError("nothing is written");
                }

                @Override
                public void begin(String section) {
                    throw new AssertionError("nothing is written");
                }

                @Override
                public void write(ByteBuffer bytes) {
                    throw new AssertionError("nothing is written");
                }
            };
            assertThrows(MillraceException.class, () -> engine.checkpoint(failing, () -> {}));
            append(engine, "s", Row.of(1L, 3L));
            newest = new MemoryCheckpoint(newest);
            engine.checkpoint(newest, () -> {});
        }
        try (Engine engine = open(1)) {
            try (Resumption resumption = engine.restore(newest)) {
                engine.relations().addStream("s", KV);
                engine.relations().addStream("e", TIMED);
                engine.start("pairs", pairs, QueryOptions.view());
                engine.start("same", pairs, QueryOptions.view());
                assertEquals(Map.of(), resumption.begunAnew());
            }
            append(engine, "e", Row.of(1L, 7L));
            ZSet expected = zset(Row.of(1L, 1L, 1L, 7L), Row.of(1L, 2L, 1L, 7L), Row.of(1L, 3L, 1L, 7L));
            assertEquals(expected, view(engine, "pairs"));
            assertEquals(expected, view(engine, "same"));
        }
    }

    private static List<String> stateSections(MemoryCheckpoint saved) {
        return saved.sections().stream()
                .filter(name -> name.startsWith("state "))
                .sorted()
                .toList();
    }

    @Test
    void whatIsWrittenOfStateGrowsWithWhatChanged() {
        PlanNode sums = totals(byHash(scan("t", KV), 0), List.of(0), 1);
        MemoryCheckpoint newest = new MemoryCheckpoint();
        try (Engine engine = open(1)) {
            WritableRelation table = engine.relations().addTable("t", KV);
            StandingQuery query = engine.start("sums", sums, QueryOptions.streaming());
            Row[] many = IntStream.range(0, 50_000)
                    .mapToObj(i -> Row.of((long) i, 1L))
                    .toArray(Row[]::new);
            engine.awaitEpoch(table.append(batch(engine, KV, many)));
            engine.checkpoint(newest, () -> {});
            assertTrue(newest.size() > 50_000 * 40, newest.size() + " bytes");
            for (int i = 0; i < 5; i++) {
                Set<String> before = Set.copyOf(stateSections(newest));
                engine.awaitEpoch(table.append(batch(engine, KV, Row.of((long) i, 7L))));
                newest = new MemoryCheckpoint(newest);
                engine.checkpoint(newest, () -> {});
                Set<String> written = new HashSet<>(stateSections(newest));
                written.removeAll(newest.kept());
                assertTrue(newest.kept().containsAll(before), "all that was there is kept");
                int bytes = written.stream().mapToInt(bytesOf(newest)).sum();
                assertTrue(bytes > 0 && bytes < 1_000, bytes + " bytes of one group");
            }
            query.pause();
            newest = new MemoryCheckpoint(newest);
            engine.checkpoint(newest, () -> {});
            assertTrue(
                    newest.kept().containsAll(stateSections(newest)), "nothing is written of a query that lies still");
        }
        List<String> sections = stateSections(newest);
        String last = sections.get(sections.size() - 1);
        byte[] newer = newest.bytes(last);
        newest.replace(last, newest.bytes(sections.get(sections.size() - 2)));
        MillraceException why = whyNotRestored(newest, sums);
        assertEquals(SqlState.DATA_CORRUPTED, why.sqlState());
        assertTrue(why.getMessage().contains(last), why.getMessage());
        newest.replace(last, newer);
        try (Engine engine = open(2)) {
            try (Resumption resumption = engine.restore(newest)) {
                engine.relations().addTable("t", KV);
                engine.start("sums", sums, QueryOptions.streaming());
                assertEquals(Map.of(), resumption.begunAnew());
            }
            assertEquals(QueryState.PAUSED, engine.query("sums").state());
        }
    }

    private static ToIntFunction<String> bytesOf(MemoryCheckpoint saved) {
        return section -> saved.bytes(section).length;
    }

    /** A file, say, that is read on where the checkpoint was cut; by the same number of readers. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void sourcesAreReadOn(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Object> script = new ArrayList<>();
        List<Row> all = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            List<Row> rows = List.of(Row.of((long) i, (long) random.nextInt(4)), Row.of((long) i, 1L));
            all.addAll(rows);
            script.add(rows);
            script.add(new ScriptedSource.Pause(1_000));
        }
        PlanNode plan = totals(byHash(scan("f", KV), 1), List.of(1), 0);
        MemoryCheckpoint saved = new MemoryCheckpoint();
        ZSet before;
        try (Engine engine = open(random.nextInt(1, 4))) {
            engine.relations().addSource("f", ScriptedSource.bounded(KV, script), OnError.FAIL);
            StandingQuery query = engine.start("q", plan, QueryOptions.view());
            Eventually.holds("some rows were read", () -> query.statistics().rowsIn() > 20);
            engine.checkpoint(saved, () -> {});
            assertEquals(QueryState.FINISHED, query.await());
            before = view(engine, "q");
        }
        try (Engine engine = open(random.nextInt(1, 4))) {
            StandingQuery query;
            ScriptedSource source = ScriptedSource.bounded(KV, script);
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addSource("f", source, OnError.FAIL);
                query = engine.start("q", plan, QueryOptions.view());
                assertEquals(Map.of(), resumption.begunAnew());
            }
            assertEquals(QueryState.FINISHED, query.await());
            assertEquals(before, view(engine, "q"));
            assertTrue(query.statistics().rowsIn() < all.size(), "what was read before was read again");
        }
    }

    @Test
    void whatHasEndedOrFailedIsSoAgain() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        List<List<Row>> script = List.of(List.of(Row.of(1L, 2L)), List.of(Row.of(1L, 3L)));
        PlanNode finished = totals(byHash(scan("f", KV), 0), List.of(0), 1);
        PlanNode failing = totals(byHash(scan("g", KV), 0), List.of(0), 1);
        Schema sums = finished.schema();
        PlanNode above = join(byHash(scan("finished", sums), 0), byHash(scan("s", KV), 0), 0, 0);
        try (Engine engine = open(2)) {
            engine.relations().addSource("f", ScriptedSource.bounded(KV, script), OnError.FAIL);
            MillraceException why = MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
            engine.relations().addSource("g", ScriptedSource.bounded(KV, List.of(why)), OnError.FAIL);
            engine.relations().addStream("s", KV);
            engine.start("finished", finished, QueryOptions.view()).await();
            engine.start("failing", failing, QueryOptions.view()).await();
            engine.start("above", above, QueryOptions.view());
            engine.checkpoint(saved, () -> {});
        }
        try (Engine engine = open(3)) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addSource("f", ScriptedSource.bounded(KV, script), OnError.FAIL);
                engine.relations().addSource("g", ScriptedSource.bounded(KV, List.of()), OnError.FAIL);
                engine.relations().addStream("s", KV);
                engine.start("finished", finished, QueryOptions.view());
                engine.start("failing", failing, QueryOptions.view());
                engine.start("above", above, QueryOptions.view());
                assertEquals(Map.of(), resumption.begunAnew());
            }
            assertEquals(QueryState.FINISHED, engine.query("finished").await());
            assertEquals(zset(Row.of(1L, 2L, 3L)), view(engine, "finished"));
            assertEquals(QueryState.FAILED, engine.query("failing").state());
            assertEquals(
                    SqlState.DIVISION_BY_ZERO,
                    engine.query("failing").failure().orElseThrow().sqlState());
            WritableRelation stream = engine.relations().writable("s");
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1L, 7L))));
            assertEquals(zset(Row.of(1L, 2L, 3L, 1L, 7L)), view(engine, "above"));
        }
    }

    @Test
    void aQueryOfAnotherPlanBeginsAnewAndThoseThatReadIt() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode sums = totals(byHash(scan("t", KV), 0), List.of(0), 1);
        PlanNode above = totals(byHash(scan("sums", sums.schema()), 1), List.of(1), 0);
        try (Engine engine = open(2)) {
            WritableRelation table = engine.relations().addTable("t", KV);
            engine.start("sums", sums, QueryOptions.view());
            engine.start("above", above, QueryOptions.view());
            engine.awaitEpoch(table.append(batch(engine, KV, Row.of(1L, 2L))));
            engine.checkpoint(saved, () -> {});
        }
        PlanNode other = totals(byHash(scan("t", KV), 1), List.of(1), 1);
        try (Engine engine = open(2)) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addTable("t", KV);
                engine.start("sums", other, QueryOptions.view());
                engine.start("above", above, QueryOptions.view());
                assertEquals(
                        List.of("above", "sums"),
                        resumption.begunAnew().keySet().stream().sorted().toList());
            }
            engine.flush(progress -> {});
            assertEquals(zset(Row.of(2L, 1L, 2L)), view(engine, "sums"));
            assertEquals(zset(Row.of(1L, 1L, 2L)), view(engine, "above"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void pausedQueriesGoOnAsIfNothingHadBeen(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Row> inTable = new ArrayList<>();
        AtomicInteger clock = new AtomicInteger();
        List<Change> changes = IntStream.range(0, 80)
                .mapToObj(i -> Change.random(random, inTable, clock))
                .toList();
        Map<String, ZSet> expected;
        try (Engine engine = open(2)) {
            Map<String, PlanNode> plans = declare(engine);
            changes.forEach(change -> change.append(engine));
            engine.flush(progress -> {});
            expected = answers(engine, plans);
        }
        MemoryCheckpoint first = new MemoryCheckpoint();
        MemoryCheckpoint second = new MemoryCheckpoint();
        List<String> paused = List.of("sums", "by_sum", "of_joined", "both", "windows").stream()
                .filter(name -> random.nextBoolean())
                .toList();
        try (Engine engine = open(random.nextInt(1, 4))) {
            declare(engine);
            changes.subList(0, 20).forEach(change -> change.append(engine));
            paused.forEach(name -> engine.query(name).pause());
            changes.subList(20, 35).forEach(change -> change.append(engine));
            engine.checkpoint(first, () -> {});
        }
        try (Engine engine = open(random.nextInt(1, 4))) {
            try (Resumption resumption = engine.restore(first)) {
                declare(engine);
                assertEquals(Map.of(), resumption.begunAnew());
            }
            changes.subList(35, 50).forEach(change -> change.append(engine));
            engine.checkpoint(second, () -> {});
        }
        try (Engine engine = open(random.nextInt(1, 4))) {
            Map<String, PlanNode> plans;
            try (Resumption resumption = engine.restore(second)) {
                plans = declare(engine);
                assertEquals(Map.of(), resumption.begunAnew());
            }
            changes.subList(50, 65).forEach(change -> change.append(engine));
            paused.forEach(name -> {
                assertEquals(QueryState.PAUSED, engine.query(name).state());
                engine.query(name).resume();
            });
            changes.subList(65, 80).forEach(change -> change.append(engine));
            engine.flush(progress -> {});
            requireRunning(engine, plans);
            Map<String, ZSet> found = answers(engine, plans);
            expected.forEach((name, rows) -> assertEquals(rows, found.get(name), name));
        }
    }

    /** The table has rows already that the query has not read. */
    @Test
    void aPausedJoinWithATableThatHasChangedBeginsAnew() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode plan = join(byHash(scan("s", KV), 0), byHash(scan("t", KV), 0), 0, 0);
        try (Engine engine = open(2)) {
            engine.relations().addStream("s", KV);
            WritableRelation table = engine.relations().addTable("t", KV);
            engine.start("joined", plan, QueryOptions.view()).pause();
            engine.checkpoint(saved, () -> {});
            assertEquals(
                    List.of(),
                    engine.checkpoint(new MemoryCheckpoint(), () -> {}).begunAnew());
            table.append(batch(engine, KV, Row.of(1L, 2L)));
            assertEquals(
                    List.of("joined"),
                    engine.checkpoint(new MemoryCheckpoint(), () -> {}).begunAnew());
        }
    }

    /** Replaces a byte behind a text, which occurs once at least. */
    private static void tamper(MemoryCheckpoint saved, String section, String after, int offset, int value) {
        byte[] bytes = saved.bytes(section);
        byte[] text = after.getBytes(StandardCharsets.UTF_8);
        int at = 0;
        while (!Arrays.equals(bytes, at, at + text.length, text, 0, text.length)) {
            at++;
        }
        bytes[at + text.length + offset] = (byte) value;
        saved.replace(section, bytes);
    }

    @Test
    void aStateInAnotherFormatIsNotReadAndSaysSo() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode sums = totals(byHash(scan("t", KV), 0), List.of(0), 1);
        try (Engine engine = open(1)) {
            WritableRelation table = engine.relations().addTable("t", KV);
            engine.start("sums", sums, QueryOptions.view());
            engine.awaitEpoch(table.append(batch(engine, KV, Row.of(1L, 2L))));
            engine.checkpoint(saved, () -> {});
        }
        String section = saved.sections().stream()
                .filter(name -> name.startsWith("state "))
                .findFirst()
                .orElseThrow();
        byte[] whole = saved.bytes(section);
        tamper(saved, section, "groups", 9, 'x'); // of the hash of the schema
        assertEquals(SqlState.DATA_CORRUPTED, whyNotRestored(saved, sums).sqlState());
        saved.replace(section, whole);
        byte[] answer = saved.bytes("answer sums");
        tamper(saved, "answer sums", "failures", 1, 77); // when there is a view already, which is freed
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, whyNotRestored(saved, sums).sqlState());
        saved.replace("answer sums", answer);
        tamper(saved, section, "groups", 1, 77);
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, whyNotRestored(saved, sums).sqlState());
        tamper(saved, "engine", "groups", 1, 77); // as a release would that has format 77
        try (Engine engine = open(1)) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addTable("t", KV);
                engine.start("sums", sums, QueryOptions.view());
                assertEquals(
                        Map.of(
                                "sums",
                                "its state \"groups\" has format 77, this release reads "
                                        + StateFormats.GROUPS.version()),
                        resumption.begunAnew());
            }
            engine.flush(progress -> {});
            assertEquals(zset(Row.of(1L, 1L, 2L)), view(engine, "sums"));
        }
    }

    private static MillraceException whyNotRestored(MemoryCheckpoint saved, PlanNode sums) {
        try (Engine engine = open(1)) {
            return assertThrows(MillraceException.class, () -> {
                try (Resumption resumption = engine.restore(saved)) {
                    engine.relations().addTable("t", KV);
                    engine.start("sums", sums, QueryOptions.view());
                }
            });
        }
    }

    @Test
    void aFailedQueryKeepsItsReasonAndItsRows() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode plan = totals(byHash(scan("g", KV), 0), List.of(0), 1);
        MillraceException why = MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
        List<Object> script = List.of(List.of(Row.of(1L, 2L)), new ScriptedSource.Pause(200_000), why);
        try (Engine engine = open(2)) {
            engine.relations().addSource("g", ScriptedSource.bounded(KV, script), OnError.FAIL);
            StandingQuery query = engine.start("failing", plan, QueryOptions.view());
            assertEquals(QueryState.FAILED, query.await());
            engine.checkpoint(saved, () -> {});
        }
        try (Engine engine = open(2)) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addSource("g", ScriptedSource.bounded(KV, List.of()), OnError.FAIL);
                engine.start("failing", plan, QueryOptions.view());
                assertEquals(Map.of(), resumption.begunAnew());
            }
            StandingQuery query = engine.query("failing");
            assertEquals(QueryState.FAILED, query.state());
            assertEquals("division by zero", query.failure().orElseThrow().getMessage());
            MemoryCheckpoint again = new MemoryCheckpoint();
            engine.checkpoint(again, () -> {});
            assertArrayEquals(saved.bytes("answer failing"), again.bytes("answer failing"));
        }
    }

    /** In the midst of committing an epoch that nobody may see before. */
    @Test
    void aStuckSinkHoldsUpNoCheckpoint() {
        Semaphore permits = new Semaphore(0);
        Sink stuck = new Sink() {
            @Override
            public void write(Batch batch) {}

            @Override
            public void commit(long epoch) {
                permits.acquireUninterruptibly();
            }

            @Override
            public void close() {}
        };
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode sums = totals(byHash(scan("s", KV), 0), List.of(0), 1);
        try (Engine engine = open(2)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            engine.start("sums", sums, QueryOptions.view());
            engine.start("stuck", sums, QueryOptions.view().withSink(stuck));
            stream.append(batch(engine, KV, Row.of(1L, 2L)));
            Eventually.holds("it is stuck", permits::hasQueuedThreads);
            stream.append(batch(engine, KV, Row.of(1L, 3L)));
            assertEquals(List.of("stuck"), engine.checkpoint(saved, () -> {}).begunAnew());
            permits.release(1_000);
            assertEquals(
                    List.of(),
                    engine.checkpoint(new MemoryCheckpoint(), () -> {}).begunAnew());
        }
        try (Engine engine = open(2)) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addStream("s", KV);
                engine.start("sums", sums, QueryOptions.view());
                engine.start("stuck", sums, QueryOptions.view());
                assertEquals(Set.of("stuck"), resumption.begunAnew().keySet());
            }
            assertEquals(zset(Row.of(1L, 2L, 3L)), view(engine, "sums"));
        }
    }

    /** At the writer's first call, and at each later one. */
    @Test
    void aWriterThatFailsHarmsNoQuery() {
        try (Engine engine = open(2)) {
            Map<String, PlanNode> plans = declare(engine);
            SplittableRandom random = new SplittableRandom(1);
            List<Row> inTable = new ArrayList<>();
            AtomicInteger clock = new AtomicInteger();
            boolean failed = true;
            for (int calls = 0; failed; calls++) {
                Change.random(random, inTable, clock).append(engine);
                AtomicInteger left = new AtomicInteger(calls);
                CheckpointWriter writer = new CheckpointWriter() {
                    @Override
                    public boolean has(SectionContents contents) {
                        return false;
                    }

                    @Override
                    public boolean keep(SectionContents contents) {
                        return false;
                    }

                    @Override
                    public void begin(String section) throws IOException {
                        fail();
                    }

                    @Override
                    public void write(ByteBuffer bytes) throws IOException {
                        fail();
                    }

                    private void fail() throws IOException {
                        if (left.getAndDecrement() == 0) {
                            throw new IOException("no space left");
                        }
                    }
                };
                try {
                    engine.checkpoint(writer, () -> {});
                    failed = false;
                } catch (MillraceException e) {
                    assertEquals(SqlState.IO_ERROR, e.sqlState());
                }
            }
            requireRunning(engine, plans);
        }
    }

    @Test
    void withoutMemoryACheckpointIsRefusedAndQueriesGoOn() {
        try (Engine engine = open(2)) {
            PlanNode sums = totals(byHash(scan("s", KV), 0), List.of(0), 1);
            WritableRelation stream = engine.relations().addStream("s", KV);
            StandingQuery query = engine.start("sums", sums, QueryOptions.view());
            Row[] rows = IntStream.range(0, 20_000)
                    .mapToObj(i -> Row.of((long) i, 1L))
                    .toArray(Row[]::new);
            engine.awaitEpoch(stream.append(batch(engine, KV, rows)));
            List<ArrowBuf> held = new ArrayList<>();
            try {
                // leaves less than the state takes, and more than the query needs to go on
                long free = engine.options().memoryLimitBytes() - engine.allocatedBytes() - (300 << 10);
                for (long size = 1 << 26; size >= 1 << 12; size /= 2) {
                    for (; free >= size; free -= size) {
                        held.add(engine.allocator().buffer(size));
                    }
                }
                MillraceException refused = assertThrows(
                        MillraceException.class, () -> engine.checkpoint(new MemoryCheckpoint(), () -> {}));
                assertEquals(SqlState.OUT_OF_MEMORY, refused.sqlState());
                assertEquals(QueryState.RUNNING, query.state());
            } finally {
                held.forEach(ArrowBuf::close);
            }
            engine.checkpoint(new MemoryCheckpoint(), () -> {});
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1L, 1L))));
            assertEquals(QueryState.RUNNING, query.state());
        }
    }

    @Test
    void whatIsCutShortIsNamed() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        PlanNode sums = totals(byHash(scan("t", KV), 0), List.of(0), 1);
        try (Engine engine = open(1)) {
            WritableRelation table = engine.relations().addTable("t", KV);
            engine.start("sums", sums, QueryOptions.view());
            engine.awaitEpoch(table.append(batch(engine, KV, Row.of(1L, 2L), Row.of(2L, 2L))));
            engine.checkpoint(saved, () -> {});
        }
        assertFalse(saved.sections().isEmpty());
        for (String section : saved.sections()) {
            byte[] whole = saved.bytes(section);
            for (int length = 0; length < whole.length; length++) {
                boolean isEven = length % 2 == 0;
                saved.replace(section, Arrays.copyOf(whole, length));
                try (Engine engine = open(1)) {
                    MillraceException damaged = assertThrows(MillraceException.class, () -> {
                        try (Resumption resumption = isEven ? engine.restore(saved) : engine.restoreSideBySide(saved)) {
                            engine.relations().addTable("t", KV);
                            engine.start("sums", sums, QueryOptions.view());
                            resumption.await();
                        }
                    });
                    assertEquals(SqlState.DATA_CORRUPTED, damaged.sqlState(), damaged.getMessage());
                    assertTrue(damaged.getMessage().contains(section), damaged.getMessage());
                }
            }
            saved.replace(section, whole);
        }
    }
}
