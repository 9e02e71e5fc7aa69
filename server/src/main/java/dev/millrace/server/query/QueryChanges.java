package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.util.ByteFunctionHelpers;
import org.apache.arrow.vector.VarCharVector;

/** Of the changes of a template's answers those of one query. As those, for one thread. */
final class QueryChanges implements StatementResult.Changes {
    private final StatementResult.Changes answers;
    private final byte[] query;
    private final Schema schema;
    private final ChangeRows.Form form;
    private final int[] columns;
    private final BufferAllocator allocator;

    /** @param answers taken over */
    QueryChanges(
            StatementResult.Changes answers,
            String query,
            Schema schema,
            ChangeRows.Form form,
            BufferAllocator allocator) {
        this.answers = answers;
        this.query = query.getBytes(StandardCharsets.UTF_8);
        this.schema = schema;
        this.form = form;
        this.columns = IntStream.rangeClosed(1, schema.size()).toArray();
        this.allocator = allocator;
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public ChangeRows.Form form() {
        return form;
    }

    @Override
    public boolean appendOnly() {
        return answers.appendOnly();
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        return answers.next(timeoutMicros).map(this::own);
    }

    private EpochChanges own(EpochChanges all) {
        try (all) {
            List<Batch> own = new ArrayList<>();
            try {
                for (Batch batch : all.batches()) {
                    own(batch).ifPresent(own::add);
                }
                return new EpochChanges(all.epoch(), all.epochMicros(), own, all.snapshot(), all.droppedRows());
            } catch (RuntimeException | Error e) {
                Closing.all(own);
                throw e;
            }
        }
    }

    private boolean isOwn(VarCharVector names, int row) {
        int start = names.getStartOffset(row);
        int end = names.getEndOffset(row);
        return end - start == query.length
                && ByteFunctionHelpers.compare(names.getDataBuffer(), start, end, query, 0, query.length) == 0;
    }

    private Optional<Batch> own(Batch batch) {
        VarCharVector names = (VarCharVector) batch.column(0);
        try (RowCopier copier = new RowCopier(schema, allocator)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                if (isOwn(names, row)) {
                    long weight =
                            batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                    copier.copy(batch, columns, row, weight);
                }
            }
            return copier.rowCount() == 0 ? Optional.empty() : Optional.of(copier.build());
        }
    }

    @Override
    public boolean isOverrun() {
        return answers.isOverrun();
    }

    @Override
    public boolean isFinished() {
        return answers.isFinished();
    }

    @Override
    public void close() {
        answers.close();
    }
}
