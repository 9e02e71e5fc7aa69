package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Rows as fast as they are taken, some or none at once: (n % 7, n). */
record Endless(Schema schema, int batchRows) implements Source {
    Endless(Schema schema) {
        this(schema, 100);
    }

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
                List<FieldVector> columns = new ArrayList<>();
                try {
                    for (int column = 0; column < 2; column++) {
                        FieldVector vector = Vectors.allocate(schema.field(column), batchRows, 0, context.allocator());
                        columns.add(vector);
                        for (int i = 0; i < batchRows; i++) {
                            long value = column == 0 ? (next + i) % 7 : next + i;
                            Memory.putLong(vector.getDataBufferAddress() + 8L * i, value);
                        }
                        Vectors.setAllValid(vector, batchRows);
                        Vectors.finish(vector, batchRows);
                    }
                    next += batchRows;
                    return Optional.of(Batch.of(schema, columns.toArray(FieldVector[]::new), batchRows));
                } catch (RuntimeException e) {
                    Closing.all(columns);
                    throw e;
                }
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
