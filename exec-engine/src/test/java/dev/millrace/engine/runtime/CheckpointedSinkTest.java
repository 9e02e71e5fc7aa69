package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.MemoryCheckpoint;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sinks that show rows by checkpoints, over engines that go on from checkpoints of others. */
@Timeout(120)
final class CheckpointedSinkTest {
    private static final Schema K = longs("k");

    /** What sinks share that one opens after the other. Guarded by itself. */
    private static final class Outside {
        final List<Long> shown = new ArrayList<>();
        final TreeMap<Long, List<Long>> prepared = new TreeMap<>();
        Optional<PreparedRows> recovered = Optional.empty();
        boolean begun;

        synchronized List<Long> shown() {
            return shown.stream().sorted().toList();
        }

        synchronized void show(long upTo) {
            prepared.headMap(upTo, true).values().forEach(shown::addAll);
            prepared.headMap(upTo, true).clear();
        }
    }

    private static class RecordingSink implements CheckpointedSink {
        final Outside outside;
        private final List<Long> rows = new ArrayList<>(); // that are not prepared
        private boolean isWhole = true;
        volatile boolean closed;

        RecordingSink(Outside outside) {
            this.outside = outside;
        }

        @Override
        public void recover(Optional<PreparedRows> from) {
            synchronized (outside) {
                assertFalse(outside.begun, "recovered twice");
                outside.begun = true;
                outside.recovered = from;
                long last = from.map(PreparedRows::checkpoint).orElse(0L);
                from.ifPresent(prepared ->
                        assertEquals(last, ByteBuffer.wrap(prepared.token()).getLong()));
                outside.show(last);
                outside.prepared.clear();
            }
        }

        @Override
        public void write(Batch batch) {
            isWhole = false;
            for (int row = 0; row < batch.rowCount(); row++) {
                rows.add(Memory.getLong(batch.dataAddress(0) + 8L * row));
            }
        }

        @Override
        public void commit(long epoch) {
            isWhole = true;
        }

        @Override
        public byte[] prepare(long checkpoint) {
            synchronized (outside) {
                assertTrue(outside.begun && isWhole, "prepared in the midst of an epoch");
                assertTrue(outside.prepared.isEmpty() || checkpoint > outside.prepared.lastKey(), "numbers grow");
                outside.prepared.put(checkpoint, List.copyOf(rows));
                rows.clear();
            }
            return ByteBuffer.allocate(Long.BYTES).putLong(checkpoint).array();
        }

        @Override
        public void publish(long checkpoint) {
            outside.show(checkpoint);
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Outside outside = new Outside();

    private static Engine open() {
        return Engine.open(EngineOptions.defaults().withWorkers(2).withMemoryLimitBytes(256L << 20), Clock.system());
    }

    private static QueryOptions into(CheckpointedSink sink) {
        return QueryOptions.streaming().withSink(sink);
    }

    private StandingQuery declare(Engine engine, CheckpointedSink sink) {
        engine.relations().addStream("s", K);
        return engine.start("out", scan("s", K), into(sink));
    }

    private static void append(Engine engine, long from, long to) {
        Row[] rows = LongStream.range(from, to).mapToObj(Row::of).toArray(Row[]::new);
        engine.append(Map.of("s", List.of(batch(engine, K, rows))));
    }

    private static List<Long> numbers(long from, long to) {
        return LongStream.range(from, to).boxed().toList();
    }

    private void sees(long rows) {
        Eventually.holds(rows + " rows", () -> outside.shown().equals(numbers(0, rows)));
    }

    private void restarts() {
        synchronized (outside) {
            outside.begun = false;
        }
    }

    @Test
    void rowsAreShownWithTheCheckpointThatHasThemAndNoOthers() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        try (Engine engine = open()) {
            StandingQuery query = declare(engine, new RecordingSink(outside));
            append(engine, 0, 10);
            Eventually.holds("it waits for a checkpoint", query::waitsForCheckpoint);
            CheckpointSummary first = engine.checkpoint(saved, () -> {});
            append(engine, 10, 20);
            assertEquals(List.of(), outside.shown(), "it is not on disk");
            engine.published(first.number());
            sees(10);
            Eventually.holds("it waits for the next", query::waitsForCheckpoint);
            append(engine, 20, 30);
        }
        restarts();
        try (Engine engine = open()) {
            try (Resumption resumption = engine.restore(saved)) {
                declare(engine, new RecordingSink(outside));
            }
            append(engine, 10, 30); // comes again
            MemoryCheckpoint again = new MemoryCheckpoint();
            CheckpointSummary second = engine.checkpoint(again, () -> {});
            engine.published(second.number());
            sees(30);
            assertFalse(engine.query("out").waitsForCheckpoint());
        }
    }

    @Test
    void aCrashBeforeTheSinkHeardOfTheCheckpointIsMadeUpFor() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        long number;
        try (Engine engine = open()) {
            declare(engine, new RecordingSink(outside));
            append(engine, 0, 10);
            number = engine.checkpoint(saved, () -> {}).number();
        }
        assertEquals(List.of(), outside.shown());
        restarts();
        try (Engine engine = open()) {
            try (Resumption resumption = engine.restore(saved)) {
                declare(engine, new RecordingSink(outside));
            }
            sees(10);
            assertEquals(number, outside.recovered.orElseThrow().checkpoint());
        }
    }

    @Test
    void whatACheckpointHadThatFailedIsInTheNext() {
        try (Engine engine = open()) {
            declare(engine, new RecordingSink(outside));
            append(engine, 0, 10);
            assertThrows(MillraceException.class, () -> engine.checkpoint(new FailingWriter(), () -> {}));
            append(engine, 10, 20);
            CheckpointSummary summary = engine.checkpoint(new MemoryCheckpoint(), () -> {});
            assertEquals(List.of(), outside.shown());
            engine.published(summary.number());
            sees(20);
        }
    }

    private static List<Expression> literal(long value) {
        return List.of(new Expression.Literal(value, DataType.BIGINT));
    }

    private static final class FailingWriter implements CheckpointWriter {
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
            if (section.equals("engine")) {
                throw new IOException("no space");
            }
        }

        @Override
        public void write(ByteBuffer bytes) {}
    }

    /** Nothing more will come to it, but there is something to be shown. */
    @Test
    void aQueryThatHasFinishedShowsItsRowsWithTheNextCheckpoint() {
        PlanNode.Values values = new PlanNode.Values(List.of(literal(0), literal(1)), K);
        MemoryCheckpoint saved = new MemoryCheckpoint();
        try (Engine engine = open()) {
            RecordingSink sink = new RecordingSink(outside);
            StandingQuery query = engine.start("out", project(values, 0), into(sink));
            query.await();
            assertEquals(QueryState.FINISHED, query.state());
            assertFalse(sink.closed);
            engine.checkpoint(saved, () -> {});
        }
        restarts();
        try (Engine engine = open()) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.start("out", project(values, 0), into(new RecordingSink(outside)));
            }
            sees(2);
            MemoryCheckpoint again = new MemoryCheckpoint();
            engine.published(engine.checkpoint(again, () -> {}).number());
            sees(2);
        }
    }

    @Test
    void aSinkThatIsStuckFailsAndCheckpointsGoOn() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        MemoryCheckpoint saved = new MemoryCheckpoint();
        try (Engine engine = open()) {
            engine.relations().addStream("s", K);
            engine.start(
                    "out",
                    scan("s", K),
                    into(new RecordingSink(outside) {
                                @Override
                                public void commit(long epoch) {
                                    try {
                                        stuck.await(60, TimeUnit.SECONDS);
                                    } catch (InterruptedException e) {
                                        throw MillraceException.user(SqlState.QUERY_CANCELED, "interrupted");
                                    }
                                    super.commit(epoch);
                                }
                            })
                            .withMostSinkNanos(TimeUnit.MILLISECONDS.toNanos(300)));
            append(engine, 0, 1);
            engine.checkpoint(saved, () -> {});
            assertEquals(QueryState.FAILED, engine.query("out").state());
            assertTrue(engine.query("out").failure().orElseThrow().getMessage().contains("sink_timeout"));
            stuck.countDown();
        }
    }

    /** Rows that a checkpoint on disk has are not lost with the query. */
    @Test
    void aQueryThatFailedHasInCheckpointsWhatItHadLast() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        long first;
        try (Engine engine = open()) {
            engine.relations().addStream("s", K);
            engine.start("out", scan("s", K), into(new RecordingSink(outside) {
                @Override
                public void commit(long epoch) {
                    synchronized (outside) {
                        if (!outside.prepared.isEmpty() || !outside.shown.isEmpty()) {
                            throw MillraceException.user(SqlState.CHECK_VIOLATION, "no more");
                        }
                    }
                    super.commit(epoch);
                }
            }));
            append(engine, 0, 10);
            first = engine.checkpoint(new MemoryCheckpoint(), () -> {}).number();
            engine.published(first);
            sees(10);
            append(engine, 10, 11);
            Eventually.holds("it fails", () -> engine.query("out").state() == QueryState.FAILED);
            engine.checkpoint(saved, () -> {});
        }
        assertTrue(saved.sections().contains("sink out"), saved.sections().toString());
    }

    @Test
    void aQueryOfAnotherPlanDoesNotBeginAnew() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        try (Engine engine = open()) {
            declare(engine, new RecordingSink(outside));
            append(engine, 0, 10);
            engine.checkpoint(saved, () -> {});
        }
        restarts();
        try (Engine engine = open()) {
            try (Resumption resumption = engine.restore(saved)) {
                engine.relations().addStream("s", K);
                RecordingSink sink = new RecordingSink(outside);
                MillraceException error = assertThrows(
                        MillraceException.class, () -> engine.start("out", project(scan("s", K), 0), into(sink)));
                assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, error.sqlState());
                assertTrue(error.getMessage().contains("see rows twice"), error.getMessage());
                assertTrue(sink.closed);
            }
        }
    }

    @Test
    void aPausedQueryShowsWhatCameBefore() {
        try (Engine engine = open()) {
            StandingQuery query = declare(engine, new RecordingSink(outside));
            append(engine, 0, 10);
            Eventually.holds("it has them", query::waitsForCheckpoint);
            query.pause();
            append(engine, 10, 20);
            engine.published(engine.checkpoint(new MemoryCheckpoint(), () -> {}).number());
            sees(10);
            query.resume();
            Eventually.holds("it has more", query::waitsForCheckpoint);
            engine.published(engine.checkpoint(new MemoryCheckpoint(), () -> {}).number());
            sees(20);
        }
    }
}
