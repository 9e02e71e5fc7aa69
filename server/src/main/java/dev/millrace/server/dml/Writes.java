package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.relation.Relations;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.copy.ArrowColumns;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.rows.RowKeyText;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.CommittedTable;
import dev.millrace.server.transaction.RowsHeld;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.text.Identifiers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/**
 * INSERT into streams and tables; UPDATE, DELETE and TRUNCATE of tables. A statement's rows take effect in one epoch: all is
 * computed and checked before the first is written. Belongs to the session's thread.
 *
 * <p>Long because all of these change tables in one way, which is written once.
 */
public final class Writes {
    private final Instance database;
    private final Queries queries;
    private final Transactions transactions;
    private final IncomingRows incoming;
    private final ReturnedRows returned;
    private final Upserts upserts;
    private final Merges merges;
    private final ForeignKeyChecks foreignKeys;
    private boolean isAtOnce; // while a statement is executed that may wait for nothing
    private boolean wrote; // whether it has

    public Writes(Instance database, Queries queries, Transactions transactions, SessionSettings settings) {
        this.database = database;
        this.queries = queries;
        this.transactions = transactions;
        this.incoming = new IncomingRows(database, queries);
        this.returned = new ReturnedRows(queries);
        this.upserts =
                new Upserts(this, queries, incoming, returned, database.engine().allocator());
        this.merges =
                new Merges(this, queries, incoming, returned, database.engine().allocator());
        this.foreignKeys = new ForeignKeyChecks(database, queries, transactions, settings, this);
    }

    /** What foreign keys say of changes. */
    public ForeignKeyChecks foreignKeys() {
        return foreignKeys;
    }

    public StatementResult insert(Statement.Insert insert) {
        return insert(insert, queries::rows);
    }

    /** @param rows what gives the rows of the statement's query, if it has one */
    public StatementResult insert(Statement.Insert insert, Function<Query, StatementResult.Rows> rows) {
        CatalogObject target = writable(insert.relation());
        if (target.kind() == ObjectKind.STREAM) {
            requireNoConflictClause(insert, target);
            try (Batch all = incoming.of(insert.source(), insert.columns(), target, rows)) {
                StatementResult answer = returned.of("INSERT", insert.returning(), all);
                return unlessItFails(answer, () -> append(target, all.retain()));
            }
        }
        Optional<String> unique = Upserts.changedUnique(insert.onConflict());
        boolean reads = unique.isPresent() // else what is in the way is known by its key
                || insert.onConflict() instanceof OnConflict.Update update
                        && !update.changes().relations().isEmpty();
        return change(target, reads, true, changed -> {
            if (!changed.keys().hasKey() && unique.isEmpty()) {
                return insertWithoutKey(insert, target, changed, rows);
            }
            try (Batch all = incoming.of(insert.source(), insert.columns(), target, rows)) {
                return upserts.insert(insert.onConflict(), insert.returning(), target, changed, all);
            }
        });
    }

    private StatementResult insertWithoutKey(
            Statement.Insert insert,
            CatalogObject target,
            ChangedTable changed,
            Function<Query, StatementResult.Rows> given) {
        boolean anyKey = insert.onConflict() instanceof OnConflict.DoNothing nothing
                && (!nothing.target() || nothing.unique().isPresent());
        if (!anyKey) { // no row is in the way of another
            requireNoConflictClause(insert, target);
        }
        try (Batch all = incoming.of(insert.source(), insert.columns(), target, given);
                Batch rows = upserts.unlessThere(insert, target, changed, all)) {
            StatementResult answer = returned.of("INSERT", insert.returning(), rows);
            return unlessItFails(answer, () -> write(changed, rows.retain()));
        }
    }

    /** Something would have to be waited for; nothing was changed. */
    private static final class NotAtOnce extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotAtOnce() {
            super("", null, false, false);
        }
    }

    /**
     * Executes an INSERT of constants where that neither waits for anyone nor fails.
     *
     * @return empty if it has to be executed in the other way, which tells why it fails if it does; nothing was changed then
     */
    public Optional<StatementResult> insertAtOnce(Statement.Insert insert) {
        boolean plain = !(insert.source() instanceof Query)
                && insert.onConflict() instanceof OnConflict.Fail
                && insert.returning().isEmpty();
        if (!plain || transactions.isUnderWay() || !queries.epochs().hasRoom()) {
            return Optional.empty();
        }
        isAtOnce = true;
        wrote = false;
        try {
            return writable(insert.relation()).rules().isEmpty() ? Optional.of(insert(insert)) : Optional.empty();
        } catch (NotAtOnce | MillraceException e) {
            if (wrote) {
                throw new AssertionError("rows were accepted, and then: " + e, e); // not to be inserted once more
            }
            return Optional.empty();
        } finally {
            isAtOnce = false;
        }
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
        if (object.input().filter(StreamInput::isDerived).isPresent()) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "cannot insert into stream \"" + name + "\": its rows come from its query")
                    .withHint("insert into what it reads");
        }
        if (database.feeds().isFed(name)) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE,
                    "cannot change table \"" + name + "\": its rows come from connector "
                            + object.options().get("connector"));
        }
        return object;
    }

    private static void requireNoConflictClause(Statement.Insert insert, CatalogObject target) {
        if (!(insert.onConflict() instanceof OnConflict.Fail)) {
            throw MillraceException.user(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "ON CONFLICT needs a primary key, and \"" + target.name() + "\" has none");
        }
    }

    /** Rows of a stream: they take effect at once, or at the end of the transaction. */
    void append(CatalogObject stream, Batch rows) {
        if (rows.rowCount() == 0) {
            rows.close();
            return;
        }
        Optional<Transaction> transaction = transactions.current();
        if (transaction.isPresent()) {
            transaction.get().append(stream.name(), stream.schema(), rows, transactions.mostBytes());
        } else {
            Accepted accepted = accept(stream.name(), List.of(rows));
            if (stream.isDurableLater()) {
                queries.epochs().wrote(accepted.epoch());
            } else {
                queries.epochs().wrote(accepted);
            }
        }
    }

    private long appendNow(TableKeys keys, List<Batch> rows) {
        Accepted accepted = accept(keys.table(), rows);
        queries.epochs().wrote(keys, accepted);
        return accepted.epoch();
    }

    private Accepted accept(String name, List<Batch> rows) {
        Relations relations = database.engine().relations();
        if (!isAtOnce) {
            return relations.accept(name, rows);
        }
        Optional<Accepted> accepted = Optional.empty();
        try {
            accepted = relations.writable(name).acceptAtOnce(rows);
        } finally {
            if (accepted.isEmpty()) {
                Closing.all(rows);
            }
        }
        wrote |= accepted.isPresent();
        return accepted.orElseThrow(NotAtOnce::new);
    }

    // ---- tables ----------------------------------------------------------------------------------------------------

    /** A change of a table, made with its lock held. */
    interface Change {
        StatementResult apply(ChangedTable table);
    }

    /**
     * Makes a change with the table's lock held. Where it finds rows that another transaction changed, it waits for the end of
     * that, and looks again.
     *
     * @param reads whether it looks for rows to change, and so must see all earlier changes; of keys these are known at once
     */
    StatementResult change(CatalogObject table, boolean reads, Change change) {
        return change(table, reads, false, change);
    }

    /**
     * The same.
     *
     * @param adds whether rows are added and no others changed: then others may do so, too, where no keys are kept
     */
    StatementResult change(CatalogObject table, boolean reads, boolean adds, Change change) {
        return changeAny(table, reads, adds, changed -> {
            queries.checks().requireAsBegun(List.of(table.name()));
            return change.apply(changed);
        });
    }

    /** Makes a change of a table that may have been made by this very statement, with the table's lock held. */
    private StatementResult changeAny(CatalogObject table, boolean reads, boolean adds, Change change) {
        while (!foreignKeys.concern(table.name())) {
            try {
                return changeUnchecked(table, reads, adds, change);
            } catch (ForeignKeyChecks.OthersDefine others) {
                if (isAtOnce) {
                    throw new NotAtOnce();
                }
                foreignKeys.awaitDefinitions();
            }
        }
        if (isAtOnce) {
            throw new NotAtOnce();
        }
        return foreignKeys.around(() -> changeUnchecked(table, reads, adds, change));
    }

    /** Makes the change; nothing was changed where others {@linkplain ForeignKeyChecks.OthersDefine define} foreign keys meanwhile. */
    private StatementResult changeUnchecked(CatalogObject table, boolean reads, boolean adds, Change change) {
        TableKeys keys = Optional.ofNullable(database.tableKeys().get(table.name()))
                .orElseThrow(() -> DatabaseCatalog.undefined("table", table.name(), List.of()));
        Optional<Transaction> transaction = transactions.current();
        boolean shared = adds && keys.takesAnyRows() && transaction.isEmpty();
        Lock lock = shared ? keys.sharedLock() : keys.lock();
        while (true) {
            Transaction holder;
            lock(lock);
            try {
                keys.requireThere();
                foreignKeys.requireKnown(table.name());
                if (reads && keys.lastEpoch() > 0) {
                    database.journal()
                            .awaitAll(); // or fails with the disk, and does not wait for that with the table's lock
                    database.engine().awaitEpoch(keys.lastEpoch(), List.of(table.name()));
                }
                ChangedTable changed = transaction.isPresent()
                        ? transaction.get().table(keys, transactions.mostBytes())
                        : new CommittedTable(keys, database.rowLocks(), rows -> appendNow(keys, rows));
                return change.apply(changed);
            } catch (RowsHeld held) {
                if (isAtOnce) {
                    throw new NotAtOnce();
                }
                holder = held.holder();
            } finally {
                keys.unlock(lock);
            }
            transactions.await(holder);
        }
    }

    private void lock(Lock lock) {
        if (!isAtOnce) {
            Interrupt.lock(lock);
        } else if (!lock.tryLock()) {
            throw new NotAtOnce();
        }
    }

    /** Writes a batch that may be empty. */
    static void write(ChangedTable table, Batch rows) {
        if (rows.rowCount() == 0) {
            rows.close();
        } else {
            table.write(List.of(rows));
        }
    }

    static int[] allColumns(CatalogObject table) {
        return IntStream.range(0, table.schema().size()).toArray();
    }

    // ---- UPDATE and DELETE -----------------------------------------------------------------------------------------

    public StatementResult update(Statement.Update update) {
        return update(update, queries::rows);
    }

    /** @param rows what gives the rows of the statement's query */
    public StatementResult update(Statement.Update update, Function<Query, StatementResult.Rows> rows) {
        CatalogObject table = writable(update.relation());
        return change(table, true, changed -> {
            try (Batch all = queries.whole(rows.apply(update.changes()));
                    Batch changes =
                            update.joined() ? eachOnce(all, changed.keys(), update.matched(), table) : all.retain();
                    Batch outgoing = part(changes, 0, table);
                    Batch arriving =
                            incoming.checked(part(changes, table.schema().size(), table), table);
                    Batch shown = beside(arriving, changes, 2 * table.schema().size())) {
                return replace(
                        table, changed, outgoing, arriving, () -> returned.of("UPDATE", update.returning(), shown));
            }
        });
    }

    public StatementResult merge(Merge merge) {
        return merges.merge(merge);
    }

    /** What a statement answers, computed when its rows may be changed and are not changed yet. */
    interface Answer {
        StatementResult get();
    }

    /** An answer to what is done now. */
    static StatementResult unlessItFails(StatementResult answer, Runnable change) {
        try {
            change.run();
            return answer;
        } catch (RuntimeException e) {
            answer.close();
            throw e;
        }
    }

    /**
     * Puts rows in the place of others, and adds or takes away those that are more: all at once.
     *
     * @param arriving the first of them in the place of {@code outgoing}
     */
    StatementResult replace(CatalogObject table, ChangedTable changed, Batch outgoing, Batch arriving, Answer answer) {
        int pairs = Math.min(outgoing.rowCount(), arriving.rowCount());
        return replace(table, changed, pairs, outgoing, arriving, answer);
    }

    /**
     * The same.
     *
     * @param pairs how many of the first of both are in each other's place: no other row that leaves is written just before one that arrives
     */
    StatementResult replace(
            CatalogObject table, ChangedTable changed, int pairs, Batch outgoing, Batch arriving, Answer answer) {
        TableKeys keys = changed.keys();
        int[] columns = allColumns(table);
        KeyChoices.claim(changed, outgoing, arriving);
        Map<String, Integer> placed = KeyChoices.replaceKeys(changed, outgoing, arriving);
        return unlessItFails(answer.get(), () -> {
            try (RowCopier copier =
                    new RowCopier(table.schema(), database.engine().allocator())) {
                for (int row = 0; row < pairs; row++) {
                    copier.copy(outgoing, columns, row, -1);
                    copier.copy(arriving, columns, row, 1);
                }
                for (int row = pairs; row < arriving.rowCount(); row++) {
                    copier.copy(arriving, columns, row, 1);
                }
                for (int row = pairs; row < outgoing.rowCount(); row++) {
                    copier.copy(outgoing, columns, row, -1);
                }
                write(changed, copier.build());
            }
            if (keys.hasKey()) {
                for (int row = 0; row < outgoing.rowCount(); row++) {
                    changed.remove(keys.keyOf(outgoing, row));
                }
                changed.put(arriving, placed.entrySet());
            }
        });
    }

    /** Columns of a batch from one on, as rows of the table; shares the memory. */
    private static Batch part(Batch rows, int first, CatalogObject table) {
        FieldVector[] columns = IntStream.range(0, table.schema().size())
                .mapToObj(column -> rows.column(first + column))
                .toArray(FieldVector[]::new);
        return Batch.view(table.schema(), columns, rows.rowCount(), Optional.empty(), List.of(rows.retain()));
    }

    /** Rows with the columns of others behind theirs, from one on; shares the memory. */
    private static Batch beside(Batch rows, Batch others, int first) {
        List<Integer> more =
                IntStream.range(first, others.columnCount()).boxed().toList();
        FieldVector[] columns = new FieldVector[rows.columnCount() + more.size()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = column < rows.columnCount()
                    ? rows.column(column)
                    : others.column(first + column - rows.columnCount());
        }
        return Batch.view(
                rows.schema().concat(others.schema().select(more)),
                columns,
                rows.rowCount(),
                Optional.empty(),
                List.of(rows.retain(), others.retain()));
    }

    /**
     * Of rows that a join gave the first of each of the table, since a row is changed once.
     *
     * @param matched of a table without a key: its rows, each as often as it is there
     */
    private Batch eachOnce(Batch all, TableKeys keys, Optional<Query> matched, CatalogObject table) {
        int[] columns = IntStream.range(0, all.columnCount()).toArray();
        Map<String, Integer> left = new HashMap<>();
        if (matched.isPresent()) {
            try (Batch there = queries.whole(queries.rows(matched.get()))) {
                for (int row = 0; row < there.rowCount(); row++) {
                    left.merge(RowKeyText.of(there, table.schema().size(), row), 1, Integer::sum);
                }
            }
        }
        Set<String> seen = new HashSet<>();
        try (RowCopier copier = new RowCopier(all.schema(), database.engine().allocator())) {
            for (int row = 0; row < all.rowCount(); row++) {
                boolean first = matched.isPresent()
                        ? left.merge(RowKeyText.of(all, table.schema().size(), row), -1, Integer::sum) >= 0
                        : seen.add(keys.keyOf(all, row));
                if (first) {
                    copier.copy(all, columns, row, 1);
                }
            }
            return copier.build();
        }
    }

    public StatementResult delete(Statement.Delete delete) {
        return delete(delete, queries::rows);
    }

    /** @param given what gives the rows of the statement's query */
    public StatementResult delete(Statement.Delete delete, Function<Query, StatementResult.Rows> given) {
        CatalogObject table = writable(delete.relation());
        return change(table, true, changed -> {
            try (Batch all = queries.whole(given.apply(delete.rows()));
                    Batch rows =
                            delete.joined() ? eachOnce(all, changed.keys(), delete.matched(), table) : all.retain();
                    Batch own = part(rows, 0, table)) {
                return remove(table, changed, own, () -> returned.of("DELETE", delete.returning(), rows));
            }
        });
    }

    public StatementResult truncate(Statement.Truncate given) {
        Statement.Truncate truncate = foreignKeys.truncated(given);
        boolean concerns = truncate.relations().stream().anyMatch(foreignKeys::concern);
        return concerns ? foreignKeys.around(() -> truncateAll(truncate)) : truncateAll(truncate);
    }

    private StatementResult truncateAll(Statement.Truncate truncate) {
        boolean together = truncate.relations().size() > 1 && !transactions.isUnderWay();
        if (together) {
            transactions.beginImplicit();
        }
        for (String name : truncate.relations()) {
            CatalogObject table = writable(name);
            change(table, true, changed -> {
                try (Batch rows = queries.whole(queries.all(table))) {
                    return remove(table, changed, rows, () -> StatementResult.Command.of("TRUNCATE TABLE"));
                }
            });
        }
        if (together) {
            transactions.endImplicit();
        }
        if (truncate.restart()) {
            truncate.relations().forEach(database.catalog().numbers()::restart);
        }
        return StatementResult.Command.of("TRUNCATE TABLE");
    }

    private StatementResult remove(CatalogObject table, ChangedTable changed, Batch rows, Answer answer) {
        TableKeys keys = changed.keys();
        int[] columns = allColumns(table);
        KeyChoices.claim(changed, rows);
        return unlessItFails(answer.get(), () -> {
            try (RowCopier copier =
                    new RowCopier(table.schema(), database.engine().allocator())) {
                for (int row = 0; row < rows.rowCount(); row++) {
                    copier.copy(rows, columns, row, -1);
                }
                write(changed, copier.build());
            }
            for (int row = 0; keys.hasKey() && row < rows.rowCount(); row++) {
                changed.remove(keys.keyOf(rows, row));
            }
        });
    }

    // ---- loads -----------------------------------------------------------------------------------------------------

    /** Rows that come in many batches, with the columns that COPY says. */
    Load load(Statement.CopyFrom copy) {
        CatalogObject target = writable(copy.relation());
        List<Integer> columns = new ArrayList<>(copy.columns());
        columns.addAll(copy.defaults());
        for (int column = 0; column < target.schema().size(); column++) {
            String name = target.schema().field(column).name();
            if (!columns.contains(column)
                    && !target.schema().field(column).nullable()
                    && target.rules().of(name).isEmpty()) {
                throw MillraceException.user(
                        SqlState.NOT_NULL_VIOLATION,
                        "column \"" + name + "\" of relation \"" + target.name()
                                + "\" must have values: it is NOT NULL");
            }
        }
        return new Load(this, queries, incoming, upserts, target, columns, copy);
    }

    /** Adds rows with all columns to a table that was made just now; they stay the caller's. */
    public void fill(String name, Batch rows) {
        CatalogObject table = writable(name);
        changeAny(table, false, false, changed -> {
            try (RowCopier copier =
                    new RowCopier(table.schema(), database.engine().allocator())) {
                copier.copyAll(rows, allColumns(table));
                write(changed, copier.build());
            }
            return StatementResult.Command.of("INSERT", rows.rowCount());
        });
    }

    /** Inserts rows, which are taken over, by the names of their columns; returns how many. */
    public long insert(String relation, Batch rows) {
        try (rows) {
            if (database.catalog().systemRelation(relation).isPresent()) {
                throw StatementKinds.wrongKind(relation, "system relation", "table or stream");
            }
            CatalogObject target = writable(relation);
            if (rows.weights().isPresent()) {
                throw MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE, "rows with weights are changes, which cannot be inserted");
            }
            List<FieldVector> columns = IntStream.range(0, rows.columnCount())
                    .mapToObj(rows::column)
                    .toList();
            Statement.CopyFrom copy = copyOf(target, columns);
            try (Load load = load(copy)) {
                if (rows.rowCount() > 0) {
                    load.add(ArrowColumns.copy(
                            target.schema().select(copy.columns()),
                            columns,
                            rows.rowCount(),
                            database.engine().allocator()));
                    load.finish();
                }
                return rows.rowCount();
            }
        }
    }

    /** The COPY that takes columns of these names: all those of the target, unless some that are missing have rules. */
    private Statement.CopyFrom copyOf(CatalogObject target, List<FieldVector> columns) {
        List<Integer> all = IntStream.range(0, target.schema().size()).boxed().toList();
        Set<String> given = columns.stream().map(FieldVector::getName).collect(Collectors.toSet());
        boolean unknown = !target.schema().names().containsAll(given);
        boolean isPlain =
                target.rules().columns().isEmpty() && target.rules().conflict().isEmpty();
        if (isPlain || unknown) {
            return new Statement.CopyFrom(
                    target.name(), all, List.of(), Optional.empty(), new OnConflict.Fail(), Optional.empty(), Map.of());
        }
        String names = target.schema().names().stream()
                .filter(name -> given.contains(name) || target.rules().of(name).isEmpty())
                .map(Identifiers::quote)
                .collect(Collectors.joining(", "));
        String text = "COPY " + RelationNames.quoted(target.name()) + " (" + names + ") FROM STDIN";
        return (Statement.CopyFrom) database.frontend()
                .analyze(database.frontend().parse(text).get(0), database.catalog(), Parameters.none());
    }
}
