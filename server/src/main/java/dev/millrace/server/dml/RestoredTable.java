package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Result;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.KeptRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.TableKeys;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Gives a table that was made again the rows that are kept of it, before anybody reads it. On the thread that opens the database.
 */
public final class RestoredTable implements AutoCloseable {
    /** Short changes are put together: a table that was written row by row is not read so. */
    private static final int ENOUGH_ROWS = 4096;

    private final Instance database;
    private final CatalogObject table;
    private final BufferAllocator allocator;
    private final int[] columns;
    private RowCopier pending;
    private long epoch;
    private long rows;

    public RestoredTable(Instance database, CatalogObject table) {
        this.database = database;
        this.table = table;
        this.allocator = database.engine().allocator();
        this.columns = IntStream.range(0, table.schema().size()).toArray();
        this.pending = new RowCopier(table.schema(), allocator);
    }

    /**
     * Reads the rows of a number.
     *
     * @return how many changes there were
     */
    public long read(KeptRows kept, long number) {
        kept.read(number, table.schema(), allocator, this::take);
        flush();
        kept.counters(number)
                .forEach((column, value) -> database.catalog().numbers().goOn(table.name(), column, value));
        if (epoch > 0) {
            database.engine().awaitEpoch(epoch);
            fillKeys();
        }
        return rows;
    }

    private void take(Batch batch) {
        rows += batch.rowCount();
        if (batch.rowCount() >= ENOUGH_ROWS / 2) {
            flush();
            append(batch);
            return;
        }
        try (batch) {
            for (int row = 0; row < batch.rowCount(); row++) {
                long weight =
                        batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                pending.copy(batch, columns, row, weight);
            }
        }
        if (pending.rowCount() >= ENOUGH_ROWS) {
            flush();
        }
    }

    private void flush() {
        if (pending.rowCount() > 0) {
            append(pending.build());
            pending.close();
            pending = new RowCopier(table.schema(), allocator);
        }
    }

    private void append(Batch batch) {
        epoch = database.engine().relations().writable(table.name()).append(batch);
    }

    private void fillKeys() {
        TableKeys keys = Objects.requireNonNull(database.tableKeys().get(table.name()));
        keys.lock().lock();
        try {
            keys.wrote(epoch);
            PlanNode all = new PlanNode.Scan(
                    table.name(), IntStream.of(columns).boxed().toList(), List.of(), table.schema());
            if (keys.hasKey() || !keys.uniques().isEmpty()) {
                try (Result there = database.engine().run(all)) {
                    for (Optional<Batch> next = there.next(); next.isPresent(); next = there.next()) {
                        try (Batch batch = next.get()) {
                            keys.fill(batch);
                        }
                    }
                }
            }
        } finally {
            keys.unlock();
        }
    }

    @Override
    public void close() {
        pending.close();
    }
}
