package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.ChangedTable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows in the way by a UNIQUE constraint. Which values are there is known at once; the rows themselves are looked for among all of the
 * table's, once for a statement that has any in its way.
 */
record TakenValues(String unique, CatalogObject table, ChangedTable changed, Queries queries, BufferAllocator allocator)
        implements InTheWay {
    @Override
    public Optional<String> keyOf(Batch rows, int row) {
        return changed.keys().uniques().texts(Optional.of(unique), rows, row).stream()
                .findFirst();
    }

    @Override
    public boolean isTaken(String key) {
        return changed.containsUnique(key);
    }

    @Override
    public Batch rows(List<String> keys) {
        Set<String> wanted = new HashSet<>(keys);
        int[] columns = Writes.allColumns(table);
        Map<String, Integer> places = new HashMap<>();
        try (StatementResult.Rows all = queries.all(table);
                RowCopier found = new RowCopier(table.schema(), allocator)) {
            all.forEach(batch -> {
                for (int row = 0; row < batch.rowCount(); row++) {
                    Optional<String> key = keyOf(batch, row).filter(wanted::contains);
                    if (key.isPresent() && places.putIfAbsent(key.get(), places.size()) == null) {
                        found.copy(batch, columns, row, 1);
                    }
                }
            });
            try (Batch each = found.build();
                    RowCopier inOrder = new RowCopier(table.schema(), allocator)) {
                for (String key : keys) {
                    inOrder.copy(each, columns, place(places, key), 1);
                }
                return inOrder.build();
            }
        }
    }

    /** A row that another part of the same statement added is not seen by this one, and cannot be changed by it. */
    private static int place(Map<String, Integer> places, String key) {
        return Optional.ofNullable(places.get(key))
                .orElseThrow(() -> MillraceException.user(
                        SqlState.CARDINALITY_VIOLATION,
                        "ON CONFLICT DO UPDATE command cannot affect a row that its own statement added"));
    }
}
