package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.view.View;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** The rows that a transaction holds back of one relation, in batches of some size however few come at a time. */
final class BufferedRows implements AutoCloseable {
    private static final int FEW = 512;
    private static final int BATCH_ROWS = 4096;

    private final Schema schema;
    private final BufferAllocator allocator;
    private final int[] columns;
    private final List<Batch> sealed = new ArrayList<>();
    private Optional<RowCopier> open = Optional.empty();
    private boolean weighted;

    BufferedRows(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.allocator = allocator;
        this.columns = IntStream.range(0, schema.size()).toArray();
    }

    /** Takes a batch over. */
    void add(Batch batch) {
        weighted |= batch.weights().isPresent();
        if (batch.rowCount() >= FEW) {
            seal();
            sealed.add(batch);
            return;
        }
        try (batch) {
            if (open.isEmpty()) {
                open = Optional.of(new RowCopier(schema, allocator));
            }
            for (int row = 0; row < batch.rowCount(); row++) {
                long weight =
                        batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                open.get().copy(batch, columns, row, weight);
            }
        }
        if (open.get().rowCount() >= BATCH_ROWS) {
            seal();
        }
    }

    /** Where the rows are now, to go back to. */
    int mark() {
        seal();
        return sealed.size();
    }

    /** Forgets what came after a mark. */
    void backTo(int mark) {
        open.ifPresent(RowCopier::close);
        open = Optional.empty();
        List<Batch> later = sealed.subList(mark, sealed.size());
        Closing.all(List.copyOf(later));
        later.clear();
    }

    private void seal() {
        open.filter(rows -> rows.rowCount() > 0).ifPresent(rows -> sealed.add(rows.build()));
        open.ifPresent(RowCopier::close);
        open = Optional.empty();
    }

    /** All rows, which stay here; a caller that keeps one retains it. */
    List<Batch> batches() {
        seal();
        return List.copyOf(sealed);
    }

    /** Hands all rows over: of a row that came and went, nothing. */
    List<Batch> take() {
        seal();
        List<Batch> all = new ArrayList<>(sealed);
        sealed.clear();
        if (!weighted || all.size() == 1 && all.get(0).rowCount() < 2) {
            return all;
        }
        try (View net = new View(schema, BATCH_ROWS, allocator)) {
            all.forEach(net::apply);
            return net.snapshot(allocator);
        } finally {
            Closing.all(all);
        }
    }

    @Override
    public void close() {
        backTo(0);
    }
}
