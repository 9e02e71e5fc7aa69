package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.copy.ArrowInput;
import dev.millrace.server.copy.LiteralInput;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.session.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.CommittedTable;
import dev.millrace.server.transaction.RowsHeld;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RowSource;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/** INSERT into streams and tables; UPDATE, DELETE and TRUNCATE of tables. A statement's rows take effect in one epoch. */
final class Writes {
    private final Database database;
    private final Queries queries;
    private final Transactions transactions;
    private final SessionSettings settings;

    Writes(Database database, Queries queries, Transactions transactions, SessionSettings settings) {
        this.database = database;
        this.queries = queries;
        this.transactions = transactions;
        this.settings = settings;
    }

    StatementResult insert(Statement.Insert insert) {
        CatalogObject target = writable(insert.relation());
        if (target.kind() == ObjectKind.STREAM) {
            requireNoConflictClause(insert, target);
            try (Batch rows = rows(insert.source(), places(insert, target), target)) {
                append(target, rows.retain());
                return answer(insert, rows);
            }
        }
        return change(target, false, changed -> insertIntoTable(insert, target, changed));
    }

    /** The front end let through tables and streams; a stream that a connector feeds takes no other rows. */
    CatalogObject writable(String name) {
        CatalogObject object = database.catalog()
                .object(name)
                .orElseThrow(() -> DatabaseCatalog.undefined("relation", name, List.of())); // dropped in between
        Optional<StreamInput> fed =
                object.input().filter(input -> input.source().isPresent());
        if (fed.isPresent()) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE,
                    "cannot insert into stream \"" + name + "\": its rows come from connector "
                            + fed.get().connector());
        }
        return object;
    }

    private static void requireNoConflictClause(Statement.Insert insert, CatalogObject target) {
        if (insert.onConflict() != OnConflict.FAIL) {
            throw MillraceException.user(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "ON CONFLICT needs a primary key, and \"" + target.name() + "\" has none");
        }
    }

    /** For each column of the target, the column of the source that gives it its value. */
    private static int[] places(Statement.Insert insert, CatalogObject target) {
        int[] places = new int[target.schema().size()];
        Arrays.fill(places, RowCopier.NONE);
        for (int from = 0; from < insert.columns().size(); from++) {
            places[insert.columns().get(from)] = from;
        }
        return places;
    }

    /** The rows of an INSERT as rows of the target, in one batch that the caller owns. */
    private Batch rows(RowSource source, int[] places, CatalogObject target) {
        if (source instanceof LiteralRows literals) {
            Batch rows = LiteralInput.rows(
                    literals, target.schema(), places, database.engine().allocator());
            try {
                requireNotNull(
                        target,
                        rows.rowCount(),
                        (column, row) -> rows.column(column).isNull(row));
                return rows;
            } catch (MillraceException e) {
                rows.close();
                throw e;
            }
        }
        return rows((Query) source, places, target);
    }

    /** All rows of a query as rows of the target, in one batch that the caller owns. */
    private Batch rows(Query source, int[] places, CatalogObject target) {
        try (RowCopier copier = new RowCopier(target.schema(), database.engine().allocator());
                StatementResult.Rows rows = queries.rows(source)) {
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        copier.copy(batch, places, row, 1);
                    }
                }
            }
            requireNotNull(copier, target);
            return copier.build();
        }
    }

    private interface Cells {
        boolean isNull(int column, int row);
    }

    private static void requireNotNull(RowCopier rows, CatalogObject target) {
        requireNotNull(target, rows.rowCount(), rows::isNull);
    }

    private static void requireNotNull(CatalogObject target, int rows, Cells cells) {
        for (int column = 0; column < target.schema().size(); column++) {
            Field field = target.schema().field(column);
            for (int row = 0; !field.nullable() && row < rows; row++) {
                if (cells.isNull(column, row)) {
                    throw MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION,
                            "null value in column \"" + field.name() + "\" of relation \"" + target.name()
                                    + "\" violates not-null constraint");
                }
            }
        }
    }

    private static Batch select(Batch rows, List<Integer> columns) {
        Schema schema = rows.schema().select(columns);
        return Batch.view(
                schema,
                columns.stream().map(rows::column).toArray(FieldVector[]::new),
                rows.rowCount(),
                Optional.empty(),
                List.of(rows.retain()));
    }

    /** Rows of a stream: they take effect at once, or at the end of the transaction. */
    private void append(CatalogObject stream, Batch rows) {
        if (rows.rowCount() == 0) {
            rows.close();
            return;
        }
        Optional<Transaction> transaction = transactions.current();
        if (transaction.isPresent()) {
            transaction.get().append(stream.name(), stream.schema(), rows, transactions.mostBytes());
        } else {
            appendNow(stream.name(), List.of(rows));
        }
    }

    private long appendNow(String name, List<Batch> rows) {
        long epoch = database.engine().relations().writable(name).append(rows);
        queries.wrote(epoch);
        return epoch;
    }

    // ---- tables ----------------------------------------------------------------------------------------------------

    private interface Change {
        StatementResult apply(ChangedTable table);
    }

    /**
     * Makes a change with the table's lock held. Where it finds rows that another transaction changed, it waits for the end of
     * that, and looks again.
     *
     * @param reads whether it looks for rows to change, and so must see all earlier changes; of keys these are known at once
     */
    private StatementResult change(CatalogObject table, boolean reads, Change change) {
        TableKeys keys = Optional.ofNullable(database.tableKeys().get(table.name()))
                .orElseThrow(() -> DatabaseCatalog.undefined("table", table.name(), List.of()));
        Optional<Transaction> transaction = transactions.current();
        while (true) {
            Transaction holder;
            keys.lock().lock();
            try {
                if (reads && keys.lastEpoch() > 0) {
                    database.engine().awaitEpoch(keys.lastEpoch());
                }
                ChangedTable changed = transaction.isPresent()
                        ? transaction.get().table(keys, transactions.mostBytes())
                        : new CommittedTable(keys, database.rowLocks(), rows -> appendNow(table.name(), rows));
                return change.apply(changed);
            } catch (RowsHeld held) {
                holder = held.holder();
            } finally {
                keys.lock().unlock();
            }
            database.rowLocks().await(holder, transaction, settings.millis(Setting.LOCK_TIMEOUT));
        }
    }

    /** Writes a batch that may be empty. */
    private static void write(ChangedTable table, Batch rows) {
        if (rows.rowCount() == 0) {
            rows.close();
        } else {
            table.write(List.of(rows));
        }
    }

    private StatementResult insertIntoTable(Statement.Insert insert, CatalogObject table, ChangedTable changed) {
        TableKeys keys = changed.keys();
        if (!keys.hasKey()) {
            requireNoConflictClause(insert, table);
        }
        try (Batch incoming = rows(insert.source(), places(insert, table), table)) {
            if (!keys.hasKey()) {
                write(changed, incoming.retain());
                return answer(insert, incoming);
            }
            changed.claim(KeyChoices.keysOf(keys, incoming));
            Map<String, Integer> chosen = KeyChoices.chooseRows(insert.onConflict(), changed, incoming);
            int[] allColumns = allColumns(table);
            try (RowCopier copier =
                    new RowCopier(table.schema(), database.engine().allocator())) {
                chosen.forEach((key, row) -> {
                    if (changed.contains(key)) {
                        changed.retract(key, copier);
                    }
                    copier.copy(incoming, allColumns, row, 1);
                });
                write(changed, copier.build());
            }
            changed.put(incoming, chosen.entrySet());
            try (Batch written = pick(incoming, chosen.values(), allColumns, table)) {
                return answer(insert, written);
            }
        }
    }

    private Batch pick(Batch from, Iterable<Integer> rows, int[] columns, CatalogObject table) {
        try (RowCopier copier = new RowCopier(table.schema(), database.engine().allocator())) {
            rows.forEach(row -> copier.copy(from, columns, row, 1));
            return copier.build();
        }
    }

    /** The command tag, or what RETURNING asks for. Does not take the rows over. */
    private static StatementResult answer(Statement.Insert insert, Batch written) {
        return insert.returning().isEmpty()
                ? Command.of("INSERT", written.rowCount())
                : FixedRows.of(select(written, insert.returning()));
    }

    private static int[] allColumns(CatalogObject table) {
        return IntStream.range(0, table.schema().size()).toArray();
    }

    StatementResult update(Statement.Update update) {
        CatalogObject table = writable(update.relation());
        return change(table, true, changed -> {
            TableKeys keys = changed.keys();
            int[] oldColumns = allColumns(table);
            int[] newColumns = Arrays.stream(oldColumns)
                    .map(column -> column + oldColumns.length)
                    .toArray();
            try (Batch changes = all(queries.rows(update.changes()));
                    Batch outgoing = copy(changes, oldColumns, table, 1);
                    Batch incoming = copy(changes, newColumns, table, 1);
                    RowCopier copier =
                            new RowCopier(table.schema(), database.engine().allocator())) {
                KeyChoices.claim(changed, outgoing, incoming);
                Map<String, Integer> arriving = KeyChoices.replaceKeys(changed, outgoing, incoming);
                for (int row = 0; row < changes.rowCount(); row++) {
                    copier.copy(outgoing, oldColumns, row, -1);
                    copier.copy(incoming, oldColumns, row, 1);
                }
                write(changed, copier.build());
                if (keys.hasKey()) {
                    for (int row = 0; row < outgoing.rowCount(); row++) {
                        changed.remove(keys.keyOf(outgoing, row));
                    }
                    changed.put(incoming, arriving.entrySet());
                }
                return Command.of("UPDATE", changes.rowCount());
            }
        });
    }

    StatementResult delete(Statement.Delete delete) {
        CatalogObject table = writable(delete.relation());
        return change(table, true, changed -> {
            try (Batch rows = all(queries.rows(delete.rows()))) {
                return Command.of("DELETE", remove(table, changed, rows));
            }
        });
    }

    StatementResult truncate(Statement.Truncate truncate) {
        CatalogObject table = writable(truncate.relation());
        return change(table, true, changed -> {
            try (Batch rows = all(queries.all(table))) {
                remove(table, changed, rows);
                return Command.of("TRUNCATE TABLE");
            }
        });
    }

    private long remove(CatalogObject table, ChangedTable changed, Batch rows) {
        TableKeys keys = changed.keys();
        KeyChoices.claim(changed, rows);
        write(changed, copy(rows, allColumns(table), table, -1));
        for (int row = 0; keys.hasKey() && row < rows.rowCount(); row++) {
            changed.remove(keys.keyOf(rows, row));
        }
        return rows.rowCount();
    }

    /** Some columns of all rows, as rows of the table; the caller owns the batch. */
    private Batch copy(Batch rows, int[] columns, CatalogObject table, long weight) {
        try (RowCopier copier = new RowCopier(table.schema(), database.engine().allocator())) {
            for (int row = 0; row < rows.rowCount(); row++) {
                copier.copy(rows, columns, row, weight);
            }
            if (weight > 0) {
                requireNotNull(copier, table);
            }
            return copier.build();
        }
    }

    // ---- loads -----------------------------------------------------------------------------------------------------

    /**
     * Rows that come in many batches. Those of a stream take effect as they come, those of a table all at once at the end.
     *
     * @param columns which of the target's columns the batches have
     */
    Load load(CatalogObject target, List<Integer> columns) {
        for (int column = 0; column < target.schema().size(); column++) {
            if (!columns.contains(column) && !target.schema().field(column).nullable()) {
                throw MillraceException.user(
                        SqlState.NOT_NULL_VIOLATION,
                        "column \"" + target.schema().field(column).name() + "\" of relation \"" + target.name()
                                + "\" must have values: it is NOT NULL");
            }
        }
        return new Load(target, columns);
    }

    /** Inserts rows, which are taken over, by the names of their columns; returns how many. */
    long insert(String relation, Batch rows) {
        try (rows) {
            if (database.catalog().systemRelation(relation).isPresent()) {
                throw Execution.wrongKind(relation, "system relation", "table or stream");
            }
            CatalogObject target = writable(relation);
            if (rows.weights().isPresent()) {
                throw MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE, "rows with weights are changes, which cannot be inserted");
            }
            List<FieldVector> columns = IntStream.range(0, rows.columnCount())
                    .mapToObj(rows::column)
                    .toList();
            List<Integer> all = Arrays.stream(allColumns(target)).boxed().toList();
            try (Load load = load(target, all)) {
                if (rows.rowCount() > 0) {
                    load.add(ArrowInput.copy(
                            target.schema(),
                            columns,
                            rows.rowCount(),
                            database.engine().allocator()));
                    load.finish();
                }
                return rows.rowCount();
            }
        }
    }

    /** See {@link #load}. */
    final class Load implements AutoCloseable {
        private final CatalogObject target;
        private final int[] places;
        private final boolean whole;
        private final List<Batch> kept = new ArrayList<>();

        Load(CatalogObject target, List<Integer> columns) {
            this.target = target;
            this.places = new int[target.schema().size()];
            Arrays.fill(places, RowCopier.NONE);
            for (int from = 0; from < columns.size(); from++) {
                places[columns.get(from)] = from;
            }
            this.whole = Arrays.equals(places, allColumns(target));
        }

        /** Takes a batch over. */
        void add(Batch batch) {
            Batch rows = whole ? batch : widened(batch);
            if (target.kind() == ObjectKind.STREAM) {
                append(target, rows);
            } else {
                kept.add(rows);
            }
        }

        private Batch widened(Batch batch) {
            try (batch;
                    RowCopier copier =
                            new RowCopier(target.schema(), database.engine().allocator())) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    copier.copy(batch, places, row, 1);
                }
                return copier.build();
            }
        }

        void finish() {
            if (!kept.isEmpty()) {
                change(target, false, this::intoTable);
            }
        }

        private StatementResult intoTable(ChangedTable changed) {
            TableKeys keys = changed.keys();
            if (keys.hasKey()) {
                KeyChoices.claim(changed, kept.toArray(Batch[]::new));
                Set<String> arriving = new HashSet<>();
                for (Batch batch : kept) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        String key = keys.keyOf(batch, row);
                        if (changed.contains(key) || !arriving.add(key)) {
                            throw keys.duplicate(batch, row);
                        }
                    }
                }
            }
            changed.write(kept.stream().map(Batch::retain).toList());
            if (keys.hasKey()) {
                for (Batch batch : kept) {
                    Map<String, Integer> rows = new LinkedHashMap<>();
                    for (int row = 0; row < batch.rowCount(); row++) {
                        rows.put(keys.keyOf(batch, row), row);
                    }
                    changed.put(batch, rows.entrySet());
                }
            }
            return Command.of("COPY");
        }

        @Override
        public void close() {
            Closing.all(kept);
            kept.clear();
        }
    }

    /** All rows in one batch, which the caller owns. */
    private Batch all(StatementResult.Rows source) {
        int[] columns = IntStream.range(0, source.schema().size()).toArray();
        try (source;
                RowCopier copier =
                        new RowCopier(source.schema(), database.engine().allocator())) {
            for (Optional<Batch> next = source.next(); next.isPresent(); next = source.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        copier.copy(batch, columns, row, 1);
                    }
                }
            }
            return copier.build();
        }
    }
}
