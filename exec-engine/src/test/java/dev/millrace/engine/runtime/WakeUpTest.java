package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers fed by I/O threads. */
@Timeout(120)
final class WakeUpTest {
    private static final Schema KV = longs("k", "v");

    /** Gives what another thread has put in; asks to be left alone for an hour else. */
    private static final class Fed implements Source {
        private final boolean replayable;
        private final ConcurrentLinkedQueue<Row> rows = new ConcurrentLinkedQueue<>();
        private volatile SourceContext context;

        Fed(boolean replayable) {
            this.replayable = replayable;
        }

        void put(Row row) {
            rows.add(row);
            context.wakeUp();
        }

        @Override
        public Schema schema() {
            return KV;
        }

        @Override
        public boolean bounded() {
            return false;
        }

        @Override
        public boolean replayable() {
            return replayable;
        }

        @Override
        public List<SourceReader> open(ScanRequest request, SourceContext newContext) {
            context = newContext;
            return List.of(new SourceReader() {
                @Override
                public Optional<Batch> poll() {
                    Row row = rows.poll();
                    return row == null
                            ? Optional.empty()
                            : Optional.of(TestBatches.of(KV, newContext.allocator(), row));
                }

                @Override
                public boolean isFinished() {
                    return false;
                }

                @Override
                public long retryAfterMicros() {
                    return 3_600_000_000L;
                }

                @Override
                public void close() {}
            });
        }
    }

    @Test
    void aReaderIsPolledWhenItsIoThreadSaysSo() {
        for (boolean replayable : new boolean[] {true, false}) {
            try (LocalEngine engine = EngineTest.open(1)) {
                Fed source = new Fed(replayable);
                engine.relations().addSource("fed", source, OnError.FAIL);
                StandingQuery query = engine.start("q", scan("fed", KV), QueryOptions.streaming());
                try (Subscription subscription = query.subscribe(SubscriptionOptions.changes())) {
                    for (int i = 0; i < 200; i++) {
                        source.put(Row.of(i, i));
                        try (EpochChanges changes =
                                subscription.next(60_000_000).orElseThrow()) {
                            assertEquals(1, changes.batches().get(0).rowCount());
                        }
                    }
                }
            }
        }
    }
}
