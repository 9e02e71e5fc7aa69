package dev.millrace.server.system;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** A system relation as the engine reads it: computed when a query opens it, then finite. */
record SystemRows(SystemRelation relation) implements Source {
    @Override
    public Schema schema() {
        return relation.schema();
    }

    @Override
    public boolean bounded() {
        return true;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return List.of(new Reader(request, context));
    }

    private final class Reader implements SourceReader {
        private final ScanRequest request;
        private final SourceContext context;
        private boolean read;

        Reader(ScanRequest request, SourceContext context) {
            this.request = request;
            this.context = context;
        }

        @Override
        public Optional<Batch> poll() {
            if (read) {
                return Optional.empty();
            }
            read = true;
            try (RowBuilder rows = new RowBuilder(relation.schema(), context.allocator())) {
                relation.rows().accept(rows);
                if (rows.rowCount() == 0) {
                    return Optional.empty();
                }
                Batch all = rows.build();
                FieldVector[] columns =
                        request.columns().stream().map(all::column).toArray(FieldVector[]::new);
                Schema schema = relation.schema().select(request.columns());
                return Optional.of(Batch.view(schema, columns, all.rowCount(), Optional.empty(), List.of(all)));
            }
        }

        @Override
        public boolean isFinished() {
            return read;
        }

        @Override
        public long retryAfterMicros() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
