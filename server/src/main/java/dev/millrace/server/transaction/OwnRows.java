package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.operators.BatchesReader;
import dev.millrace.engine.view.View;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.Repetitions;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The rows of a table as a transaction sees them, or rows that a statement has at hand, for one reader after the other; closed
 * by whoever made it.
 */
public final class OwnRows implements Source, AutoCloseable {
    private static final int BATCH_ROWS = 4096;

    private final Schema schema;
    private final List<Batch> rows;

    /**
     * @param committed rows of the table, taken over
     * @param changes the transaction's, which stay its own
     */
    public OwnRows(Schema schema, StatementResult.Rows committed, List<Batch> changes, BufferAllocator allocator) {
        this.schema = schema;
        try (committed;
                View view = new View(schema, BATCH_ROWS, allocator)) {
            for (Optional<Batch> next = committed.next(); next.isPresent(); next = committed.next()) {
                try (Batch batch = next.get()) {
                    view.apply(batch);
                }
            }
            changes.forEach(view::apply);
            rows = once(view.snapshot(allocator), allocator);
        }
    }

    /** Rows that a statement has at hand, which stay the caller's. */
    public OwnRows(Batch atHand) {
        this.schema = atHand.schema();
        this.rows = atHand.rowCount() == 0 ? List.of() : List.of(atHand.retain());
    }

    /** A row of weight three as three rows: a source has no weights. */
    private static List<Batch> once(List<Batch> weighted, BufferAllocator allocator) {
        List<Batch> rows = new ArrayList<>();
        Interrupt interrupt = Interrupt.current();
        try {
            for (Batch batch : weighted) {
                try (Repetitions repeated = new Repetitions(batch.retain(), batch.schema(), allocator)) {
                    for (Optional<Batch> next = repeated.next(); next.isPresent(); next = repeated.next()) {
                        rows.add(next.get());
                        interrupt.check();
                    }
                }
            }
            return List.copyOf(rows);
        } catch (RuntimeException | Error e) {
            Closing.all(rows);
            throw e;
        } finally {
            Closing.all(weighted);
        }
    }

    @Override
    public Schema schema() {
        return schema;
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
        return List.of(new BatchesReader(
                rows.stream().map(batch -> columns(batch, request.columns())).toList()));
    }

    /** Some columns of a batch; each of both is closed by who has it. */
    private Batch columns(Batch all, List<Integer> chosen) {
        FieldVector[] columns = chosen.stream().map(all::column).toArray(FieldVector[]::new);
        return Batch.view(schema.select(chosen), columns, all.rowCount(), Optional.empty(), List.of(all.retain()));
    }

    @Override
    public void close() {
        Closing.all(rows);
    }
}
