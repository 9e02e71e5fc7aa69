package dev.millrace.server.result;

import dev.millrace.batch.Batch;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/** Rows that are there already: what SHOW and its kin answer. */
public final class FixedRows implements StatementResult.Rows {
    private final Schema schema;
    private Optional<Batch> batch;

    private FixedRows(Schema schema, Optional<Batch> batch) {
        this.schema = schema;
        this.batch = batch;
    }

    public static FixedRows none(Schema schema) {
        return new FixedRows(schema, Optional.empty());
    }

    /** Takes the batch over, if there is one. */
    public static FixedRows of(Schema schema, Optional<Batch> batch) {
        return new FixedRows(schema, batch);
    }

    /** Takes the batch over. */
    public static FixedRows of(Batch batch) {
        if (batch.rowCount() > 0) {
            return new FixedRows(batch.schema(), Optional.of(batch));
        }
        batch.close();
        return new FixedRows(batch.schema(), Optional.empty());
    }

    public static FixedRows of(Schema schema, BufferAllocator allocator, Consumer<RowBuilder> fill) {
        try (RowBuilder builder = new RowBuilder(schema, allocator)) {
            fill.accept(builder);
            return new FixedRows(schema, builder.rowCount() == 0 ? Optional.empty() : Optional.of(builder.build()));
        }
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Optional<Batch> next() {
        Optional<Batch> next = batch;
        batch = Optional.empty();
        return next;
    }

    @Override
    public void close() {
        next().ifPresent(Batch::close);
    }
}
