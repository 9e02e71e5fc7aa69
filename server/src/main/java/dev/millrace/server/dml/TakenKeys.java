package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.ChangedTable;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Rows in the way by the primary key, which finds them at once. */
record TakenKeys(CatalogObject table, ChangedTable changed, BufferAllocator allocator) implements InTheWay {
    @Override
    public Optional<String> keyOf(Batch rows, int row) {
        return Optional.of(changed.keys().keyOf(rows, row));
    }

    @Override
    public boolean isTaken(String key) {
        return changed.contains(key);
    }

    @Override
    public Batch rows(List<String> keys) {
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            keys.forEach(key -> changed.copy(key, copier, 1));
            return copier.build();
        }
    }
}
