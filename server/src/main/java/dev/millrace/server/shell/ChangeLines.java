package dev.millrace.server.shell;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.EpochChanges;
import dev.millrace.server.format.ResultFormat;
import dev.millrace.server.format.RowWriter;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.server.session.StatementResult;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Writes a subscription as lines: what happened ('+' or '-'), when the epoch was committed, the row. */
final class ChangeLines {
    private static final long POLL_MICROS = 1_000_000;
    private static final Schema PREFIX =
            Schema.of(new Field("op", DataType.TEXT, false), new Field("epoch_time", DataType.TIMESTAMPTZ, false));

    private final StatementResult.Changes changes;
    private final BufferAllocator allocator;
    private final Writer out;
    private final Schema schema;
    private final RowWriter rows;

    ChangeLines(StatementResult.Changes changes, ResultFormat format, BufferAllocator allocator, Writer out)
            throws IOException {
        this.changes = changes;
        this.allocator = allocator;
        this.out = out;
        this.schema = PREFIX.concat(changes.schema());
        this.rows = format.open(schema, out);
    }

    /** Writes until the query ends or the statement is cancelled. */
    void run() throws IOException {
        while (!changes.isFinished()) {
            Optional<EpochChanges> next = changes.next(POLL_MICROS);
            if (next.isPresent()) {
                try (EpochChanges epoch = next.get()) {
                    write(epoch);
                }
                rows.flush();
                out.flush();
            }
        }
        rows.end();
    }

    private void write(EpochChanges epoch) throws IOException {
        for (Batch batch : epoch.batches()) {
            try (RowBuilder prefix = new RowBuilder(PREFIX, allocator)) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    prefix.row(weight(batch, row) < 0 ? "-" : "+", epoch.epochMicros());
                }
                List<FieldVector> columns = new ArrayList<>();
                Batch left = prefix.build();
                IntStream.range(0, left.columnCount()).mapToObj(left::column).forEach(columns::add);
                IntStream.range(0, batch.columnCount()).mapToObj(batch::column).forEach(columns::add);
                try (Batch line = Batch.view(
                        schema,
                        columns.toArray(FieldVector[]::new),
                        batch.rowCount(),
                        Optional.empty(),
                        List.of(left, batch.retain()))) {
                    rows.write(line);
                }
            }
        }
    }

    private static long weight(Batch batch, int row) {
        return batch.weights().map(weights -> weights.get(row)).orElse(1L);
    }
}
