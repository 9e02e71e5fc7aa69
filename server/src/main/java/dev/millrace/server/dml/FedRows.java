package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.RowChange;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.copy.LiteralInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.rows.RowKeyText;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows that a feed brings into its table: by their keys, and only where they are others than those that are there. Belongs to the
 * session's thread.
 *
 * <pre>
 *   changes --- last of each key --- put: there and equal ------> nothing
 *                               |         there, or not --------> replaced, inserted
 *                               \--- delete: there -------------> removed
 * </pre>
 */
public final class FedRows {
    private static final int ROWS_OF_BATCH = 4096;

    private final Instance database;
    private final Queries queries;
    private final Writes writes;
    private final IncomingRows incoming;

    public FedRows(Instance database, Queries queries, Writes writes) {
        this.database = database;
        this.queries = queries;
        this.writes = writes;
        this.incoming = new IncomingRows(database, queries);
    }

    private BufferAllocator allocator() {
        return database.engine().allocator();
    }

    /** The columns of a table that its feed gives values for. */
    public static Schema given(CatalogObject table) {
        return new Schema(table.schema().fields().stream()
                .filter(field -> !isComputed(table, field.name()))
                .toList());
    }

    private static boolean isComputed(CatalogObject table, String column) {
        return table.rules()
                .of(column)
                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED)
                .isPresent();
    }

    /** Changes rows by their keys, of several changes of one key the last. */
    public void change(String name, List<RowChange> changes) {
        CatalogObject table = table(name);
        if (!changes.isEmpty()) {
            writes.change(table, false, changed -> change(table, changed, changes));
        }
    }

    private StatementResult change(CatalogObject table, ChangedTable changed, List<RowChange> changes) {
        List<RowChange> newest = newest(table, changes);
        try (Batch told = rows(table, newest)) {
            List<RowChange> whole = completed(table, changed, newest, told);
            try (Batch given = whole.equals(newest) ? told.retain() : rows(table, whole)) {
                List<Integer> put = new ArrayList<>();
                List<String> gone = new ArrayList<>();
                for (int row = 0; row < whole.size(); row++) {
                    if (whole.get(row).isDelete()) {
                        gone.add(changed.keys().keyOf(given, row));
                    } else {
                        put.add(row);
                    }
                }
                try (Batch arriving = incoming.checked(pick(table, given, put), table)) {
                    return apply(table, changed, arriving, gone);
                }
            }
        }
    }

    /** The last change of each key; what it keeps of a row it has from the one before. */
    private static List<RowChange> newest(CatalogObject table, List<RowChange> changes) {
        int[] places = places(table);
        Map<List<Optional<String>>, RowChange> newest = new LinkedHashMap<>();
        for (RowChange change : changes) {
            List<Optional<String>> key = table.primaryKey().stream()
                    .map(column -> change.values().get(places[column]))
                    .toList();
            RowChange told = Optional.ofNullable(newest.get(key))
                    .filter(before -> !before.isDelete() && !change.kept().isEmpty())
                    .map(before -> filled(change, before.values(), before.kept()))
                    .orElse(change);
            newest.put(key, told);
        }
        return List.copyOf(newest.values());
    }

    /** A change with the values that it keeps. @param kept of those the ones that are not known either */
    private static RowChange filled(RowChange change, List<Optional<String>> values, Set<Integer> kept) {
        List<Optional<String>> all = new ArrayList<>(change.values());
        change.kept().forEach(place -> all.set(place, values.get(place)));
        Set<Integer> unknown = new HashSet<>(change.kept());
        unknown.retainAll(kept);
        return new RowChange(change.isDelete(), all, unknown);
    }

    /** With what is kept of rows that are there. @param told the changes as rows */
    private List<RowChange> completed(CatalogObject table, ChangedTable changed, List<RowChange> changes, Batch told) {
        int[] places = places(table);
        List<RowChange> whole = new ArrayList<>();
        for (int row = 0; row < changes.size(); row++) {
            RowChange change = changes.get(row);
            String key = changed.keys().keyOf(told, row);
            if (change.kept().isEmpty() || !changed.contains(key)) {
                whole.add(change);
                continue;
            }
            try (RowCopier one = new RowCopier(table.schema(), allocator())) {
                changed.copy(key, one, 1);
                try (Batch there = one.build()) {
                    List<Optional<String>> values = new ArrayList<>(change.values());
                    for (int column = 0; column < places.length; column++) {
                        if (change.kept().contains(places[column])) {
                            values.set(places[column], ValueText.format(there, column, 0));
                        }
                    }
                    whole.add(RowChange.put(values));
                }
            }
        }
        return whole;
    }

    /** The table has these rows and no others. */
    public void replace(String name, Iterator<RowChange> rows) {
        CatalogObject table = table(name);
        List<Batch> parts = new ArrayList<>();
        try (RowCopier all = new RowCopier(table.schema(), allocator())) {
            while (rows.hasNext()) {
                List<RowChange> some = new ArrayList<>();
                while (rows.hasNext() && some.size() < ROWS_OF_BATCH) {
                    some.add(rows.next());
                }
                try (Batch part = incoming.checked(rows(table, some), table)) {
                    all.copyAll(part, Writes.allColumns(table));
                }
            }
            parts.add(all.build());
            writes.change(table, true, changed -> replace(table, changed, parts.get(0)));
        } finally {
            Closing.all(parts);
        }
    }

    private StatementResult replace(CatalogObject table, ChangedTable changed, Batch rows) {
        Map<String, Integer> last = new LinkedHashMap<>();
        for (int row = 0; row < rows.rowCount(); row++) {
            last.put(changed.keys().keyOf(rows, row), row);
        }
        List<String> gone = new ArrayList<>();
        try (Batch there = queries.whole(queries.all(table))) {
            for (int row = 0; row < there.rowCount(); row++) {
                String key = changed.keys().keyOf(there, row);
                if (!last.containsKey(key)) {
                    gone.add(key);
                }
            }
        }
        try (Batch arriving = pick(table, rows, List.copyOf(last.values()))) {
            return apply(table, changed, arriving, gone);
        }
    }

    /** @param arriving of which no two have one key, stays the caller's */
    private StatementResult apply(CatalogObject table, ChangedTable changed, Batch arriving, List<String> gone) {
        int columns = table.schema().size();
        List<Integer> others = new ArrayList<>();
        try (RowCopier outgoing = new RowCopier(table.schema(), allocator())) {
            for (int row = 0; row < arriving.rowCount(); row++) {
                String key = changed.keys().keyOf(arriving, row);
                if (!changed.contains(key)) {
                    others.add(row);
                    continue;
                }
                try (RowCopier one = new RowCopier(table.schema(), allocator())) {
                    changed.copy(key, one, 1);
                    try (Batch before = one.build()) {
                        if (!RowKeyText.of(before, columns, 0).equals(RowKeyText.of(arriving, columns, row))) {
                            outgoing.copy(before, Writes.allColumns(table), 0, 1);
                            others.add(row);
                        }
                    }
                }
            }
            for (String key : gone) {
                if (changed.contains(key)) {
                    changed.copy(key, outgoing, 1);
                }
            }
            try (Batch leaving = outgoing.build();
                    Batch coming = pick(table, arriving, others)) {
                return leaving.rowCount() + coming.rowCount() == 0
                        ? StatementResult.Command.of("INSERT", 0)
                        : writes.replace(
                                table,
                                changed,
                                0,
                                leaving,
                                coming,
                                () -> StatementResult.Command.of("INSERT", coming.rowCount()));
            }
        }
    }

    private Batch pick(CatalogObject table, Batch from, List<Integer> rows) {
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator())) {
            rows.forEach(row -> copier.copy(from, columns, row, 1));
            return copier.build();
        }
    }

    private CatalogObject table(String name) {
        return database.catalog()
                .object(name)
                .orElseThrow(() -> DatabaseCatalog.undefined("table", name, List.of())); // dropped in between
    }

    // ---- from texts ------------------------------------------------------------------------------------------------

    private Batch rows(CatalogObject table, List<RowChange> changes) {
        int[] places = places(table);
        try {
            Batch rows = LiteralInput.rows(literals(changes), table.schema(), places, allocator());
            requireKeys(table, rows, changes);
            return rows;
        } catch (MillraceException e) {
            throw named(table, places, changes, e);
        }
    }

    private static LiteralRows literals(List<RowChange> changes) {
        List<Cell> cells = new ArrayList<>();
        for (RowChange change : changes) {
            change.values()
                    .forEach(value -> cells.add(value.map(text -> new Cell(LiteralRows.Kind.STRING, text, 0))
                            .orElse(new Cell(LiteralRows.Kind.NULL, "", 0))));
        }
        return new LiteralRows(changes.get(0).values().size(), cells);
    }

    private static void requireKeys(CatalogObject table, Batch rows, List<RowChange> changes) {
        for (int column : table.primaryKey()) {
            for (int row = 0; row < changes.size(); row++) {
                if (rows.column(column).isNull(row)) {
                    rows.close();
                    throw MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION,
                            "a row has no value for column \""
                                    + table.schema().field(column).name() + "\", which is of the key of \""
                                    + table.name()
                                    + "\"");
                }
            }
        }
    }

    /** For each column of the table the place of its value. */
    private static int[] places(CatalogObject table) {
        int[] places = new int[table.schema().size()];
        Arrays.fill(places, RowCopier.NONE);
        int next = 0;
        for (int column = 0; column < places.length; column++) {
            if (!isComputed(table, table.schema().field(column).name())) {
                places[column] = next++;
            }
        }
        return places;
    }

    /** The first row that fails, named by its values. */
    private MillraceException named(
            CatalogObject table, int[] places, List<RowChange> changes, MillraceException failure) {
        for (RowChange change : changes) {
            try {
                Batch row = LiteralInput.rows(literals(List.of(change)), table.schema(), places, allocator());
                requireKeys(table, row, List.of(change));
                row.close();
            } catch (MillraceException e) {
                List<String> names = given(table).names();
                String values = change.values().stream()
                        .map(value -> value.map(text -> text.length() > 40 ? text.substring(0, 40) + ".." : text)
                                .orElse("NULL"))
                        .limit(8)
                        .collect(Collectors.joining(", "));
                return MillraceException.user(
                        e.sqlState(),
                        "a row for table \"" + table.name() + "\" cannot be taken: " + e.getMessage() + "; ("
                                + String.join(", ", names.subList(0, Math.min(8, names.size()))) + ") = (" + values
                                + ")");
            }
        }
        return failure;
    }
}
