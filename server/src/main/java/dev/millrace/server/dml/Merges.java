package dev.millrace.server.dml;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.rows.RowKeyText;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.sql.statement.Merge;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * MERGE: one query says which action each row gets and what it becomes ({@link Merge}); here the rows are told apart, checked,
 * and written together.
 */
final class Merges {
    private static final Field ACTION = new Field("merge_action", DataType.TEXT, false);

    private final Writes writes;
    private final Queries queries;
    private final IncomingRows incoming;
    private final ReturnedRows returned;
    private final BufferAllocator allocator;

    Merges(Writes writes, Queries queries, IncomingRows incoming, ReturnedRows returned, BufferAllocator allocator) {
        this.writes = writes;
        this.queries = queries;
        this.incoming = incoming;
        this.returned = returned;
        this.allocator = allocator;
    }

    StatementResult merge(Merge merge) {
        CatalogObject table = writes.writable(merge.relation());
        return writes.change(table, true, changed -> {
            try (Batch all = queries.whole(queries.rows(merge.changes()))) {
                return apply(merge, table, changed, all);
            }
        });
    }

    /** The rows of the query's answer by their actions. */
    private List<List<Integer>> byAction(Merge merge, Batch all, int actionColumn) {
        List<List<Integer>> rows = new ArrayList<>();
        merge.actions().forEach(action -> rows.add(new ArrayList<>()));
        BigIntVector actions = (BigIntVector) all.column(actionColumn);
        for (int row = 0; row < all.rowCount(); row++) {
            rows.get((int) actions.get(row)).add(row);
        }
        return rows;
    }

    private StatementResult apply(Merge merge, CatalogObject table, ChangedTable changed, Batch all) {
        int columns = table.schema().size();
        List<List<Integer>> byAction = byAction(merge, all, 2 * columns);
        List<Integer> updated = ofKind(merge, byAction, Merge.Kind.UPDATE);
        List<Integer> deleted = ofKind(merge, byAction, Merge.Kind.DELETE);
        int[] places = new int[all.rowCount()]; // where the row is among those that are shown
        int place = 0;
        for (int row : updated) {
            places[row] = place++;
        }
        List<Batch> parts = new ArrayList<>();
        try {
            parts.add(incoming.checked(pick(all, columns, updated, table.schema()), table));
            for (int number = 0; number < byAction.size(); number++) {
                Merge.Action action = merge.actions().get(number);
                if (action.kind() == Merge.Kind.INSERT) {
                    for (int row : byAction.get(number)) {
                        places[row] = place++;
                    }
                    parts.add(inserted(all, byAction.get(number), action.columns(), table));
                }
            }
            for (int row : deleted) {
                places[row] = place++;
            }
            List<Integer> leaving = new ArrayList<>(updated);
            leaving.addAll(deleted);
            try (Batch outgoing = pick(all, 0, leaving, table.schema());
                    Batch gone = pick(all, 0, deleted, table.schema());
                    Batch arriving = together(table, parts)) {
                requireOnce(table, changed, outgoing);
                return writes.replace(table, changed, updated.size(), outgoing, arriving, () -> {
                    try (Batch shown = merge.returning().isEmpty()
                            ? pick(
                                    all,
                                    0,
                                    IntStream.range(0, all.rowCount()).boxed().toList(),
                                    table.schema())
                            : shown(merge, table, all, List.of(arriving, gone), places)) {
                        return returned.of("MERGE", merge.returning(), shown);
                    }
                });
            }
        } finally {
            Closing.all(parts);
        }
    }

    private static List<Integer> ofKind(Merge merge, List<List<Integer>> byAction, Merge.Kind kind) {
        return IntStream.range(0, byAction.size())
                .filter(number -> merge.actions().get(number).kind() == kind)
                .boxed()
                .flatMap(number -> byAction.get(number).stream())
                .toList();
    }

    /** Columns of some rows, from one on. */
    private Batch pick(Batch all, int first, List<Integer> rows, Schema schema) {
        int[] columns = IntStream.range(first, first + schema.size()).toArray();
        try (RowCopier copier = new RowCopier(schema, allocator)) {
            rows.forEach(row -> copier.copy(all, columns, row, 1));
            return copier.build();
        }
    }

    /** Rows to be inserted, with what their INSERT does not say. */
    private Batch inserted(Batch all, List<Integer> rows, List<Integer> given, CatalogObject table) {
        int columns = table.schema().size();
        int[] from = given.stream().mapToInt(column -> columns + column).toArray();
        try (RowCopier copier = new RowCopier(table.schema().select(given), allocator)) {
            rows.forEach(row -> copier.copy(all, from, row, 1));
            return incoming.widened(copier.build(), given, table);
        }
    }

    private Batch together(CatalogObject table, List<Batch> parts) {
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            parts.forEach(part -> copier.copyAll(part, columns));
            return copier.build();
        }
    }

    /** A row is changed by one action at most: 21000, as PostgreSQL has it. */
    private void requireOnce(CatalogObject table, ChangedTable changed, Batch outgoing) {
        if (changed.keys().hasKey()) {
            Set<String> seen = new HashSet<>();
            for (int row = 0; row < outgoing.rowCount(); row++) {
                if (!seen.add(changed.keys().keyOf(outgoing, row))) {
                    throw twice();
                }
            }
            return;
        }
        int columns = table.schema().size();
        Map<String, Integer> left = new HashMap<>();
        for (int row = 0; row < outgoing.rowCount(); row++) {
            left.merge(RowKeyText.of(outgoing, columns, row), 1, Integer::sum);
        }
        if (left.size() == outgoing.rowCount()) {
            return;
        }
        try (Batch there = queries.whole(queries.all(table))) { // a row may be there as often as it is changed
            for (int row = 0; row < there.rowCount(); row++) {
                left.computeIfPresent(RowKeyText.of(there, columns, row), (text, count) -> count - 1);
            }
        }
        if (left.values().stream().anyMatch(count -> count > 0)) {
            throw twice();
        }
    }

    private static MillraceException twice() {
        return MillraceException.user(SqlState.CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
                .withHint(
                        "no two rows of the source may match one row of the table; SELECT DISTINCT ON (key) .. chooses"
                                + " one");
    }

    /** What RETURNING is over: the source's columns, those of the table, and the action, in the order of the query. */
    private Batch shown(Merge merge, CatalogObject table, Batch all, List<Batch> rows, int[] places) {
        int first = 2 * table.schema().size() + 1;
        List<Integer> ofSource =
                IntStream.range(first, all.columnCount()).boxed().toList();
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            for (int place : places) {
                Batch from = place < rows.get(0).rowCount() ? rows.get(0) : rows.get(1);
                copier.copy(
                        from,
                        columns,
                        from == rows.get(0) ? place : place - rows.get(0).rowCount(),
                        1);
            }
            try (Batch own = copier.build();
                    Batch actions = actions(merge, all, first - 1)) {
                List<FieldVector> vectors = new ArrayList<>();
                ofSource.forEach(column -> vectors.add(all.column(column)));
                for (int column : columns) {
                    vectors.add(own.column(column));
                }
                vectors.add(actions.column(0));
                return Batch.view(
                        all.schema().select(ofSource).concat(table.schema()).concat(Schema.of(ACTION)),
                        vectors.toArray(FieldVector[]::new),
                        all.rowCount(),
                        Optional.empty(),
                        List.of(all.retain(), own.retain(), actions.retain()));
            }
        }
    }

    private Batch actions(Merge merge, Batch all, int column) {
        BigIntVector numbers = (BigIntVector) all.column(column);
        VarCharVector names = (VarCharVector) ArrowTypes.arrowField(ACTION).createVector(allocator);
        for (int row = 0; row < all.rowCount(); row++) {
            String name = merge.actions().get((int) numbers.get(row)).kind().name();
            names.setSafe(row, name.getBytes(StandardCharsets.UTF_8));
        }
        names.setValueCount(all.rowCount());
        return Batch.of(Schema.of(ACTION), new FieldVector[] {names}, all.rowCount());
    }
}
