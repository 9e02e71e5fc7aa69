package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rows as fast as they are taken: (n % 7, n). */
record Endless(Schema schema) implements Source {
    @Override
    public boolean bounded() {
        return false;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return List.of(new SourceReader() {
            private long next;

            @Override
            public Optional<Batch> poll() {
                List<Row> rows = new ArrayList<>();
                for (int i = 0; i < 100; i++, next++) {
                    rows.add(Row.of(next % 7, next));
                }
                return Optional.of(TestBatches.of(schema, context.allocator(), rows));
            }

            @Override
            public boolean isFinished() {
                return false;
            }

            @Override
            public long retryAfterMicros() {
                return 0;
            }

            @Override
            public void close() {}
        });
    }
}
