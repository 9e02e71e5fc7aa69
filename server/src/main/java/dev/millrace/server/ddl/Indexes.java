package dev.millrace.server.ddl;

import dev.millrace.engine.view.OrderedColumns;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.DatabaseCatalog.TakenOut;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.IndexStatement.CreateIndex;
import dev.millrace.sql.statement.IndexStatement.Reindex;
import dev.millrace.sql.statement.IndexStatement.RenameIndex;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * CREATE INDEX and what becomes of indexes. The engine has one ordered index for each list of columns, however many names it has;
 * it is filled without the lock of definitions. A unique index of a table is one of the table's rules, as UNIQUE is.
 */
public final class Indexes {
    private final Instance database;
    private final TableRows tableRows;
    private final HeldDefinitions held;
    private final Consumer<String> notices;

    public Indexes(
            Instance database,
            Queries queries,
            Transactions transactions,
            HeldDefinitions held,
            Consumer<String> notices) {
        this.database = database;
        this.tableRows = new TableRows(database, queries, transactions, held);
        this.held = held;
        this.notices = notices;
    }

    private DatabaseCatalog catalog() {
        return database.catalog();
    }

    // ---- CREATE ----------------------------------------------------------------------------------------------------

    /** Fills what an index needs, before any lock is taken: rows are written meanwhile. What is wrong is told by {@link #execute}. */
    public void prepare(IndexStatement statement) {
        if (statement instanceof CreateIndex create) {
            Optional<CatalogObject> relation =
                    catalog().object(create.relation()).filter(Indexes::canBeIndexed);
            if (relation.isEmpty()) {
                return;
            }
            Schema schema = relation.get().schema();
            Optional<VersionedView> rows = database.engine().kept(create.relation());
            if (rows.isPresent() && create.columns().stream().allMatch(column -> schema.indexOf(column.name()) >= 0)) {
                rows.get().indexes().make(new OrderedColumns(keys(create, schema)));
            }
        }
    }

    public Command execute(IndexStatement statement) {
        if (statement instanceof Reindex reindex) {
            return reindex(reindex);
        }
        database.lockDefinitions();
        try {
            return statement instanceof CreateIndex create ? create(create) : rename((RenameIndex) statement);
        } finally {
            database.definitionLock().unlock();
        }
    }

    private static boolean canBeIndexed(CatalogObject object) {
        return object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.MATERIALIZED_VIEW;
    }

    private Command create(CreateIndex create) {
        CatalogObject relation = catalog()
                .object(create.relation())
                .orElseThrow(() -> DatabaseCatalog.undefined(
                        "relation", create.relation(), catalog().relationNames()));
        if (!canBeIndexed(relation)) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "cannot create index on " + relation.kind().sqlName() + " \"" + relation.name() + "\"")
                    .withHint("tables and materialized views keep rows that can be indexed");
        }
        if (isKeyOfView(create, relation)) {
            notices.accept("\"" + create.name().orElseThrow() + "\" is there: rows of \"" + relation.name()
                    + "\" are unique by the key of its query");
            return Command.of("CREATE INDEX");
        }
        List<OrderKey> keys = keys(create, relation.schema());
        Optional<CatalogObject> taken = create.name().flatMap(catalog()::object);
        try {
            if (taken.isPresent()) {
                String exists = "relation \"" + taken.get().name() + "\" already exists";
                if (!create.ifNotExists()) {
                    throw MillraceException.user(SqlState.DUPLICATE_TABLE, exists);
                }
                notices.accept(exists + ", skipping");
                return Command.of("CREATE INDEX");
            }
            passOver(create, relation);
            String name = create.name().orElseGet(() -> freeName(create));
            add(relation, new Index(name, relation.name(), create.method(), create.unique(), keys));
            return Command.of("CREATE INDEX");
        } finally {
            dropUnused(relation.name(), keys);
        }
    }

    /** An index says where rows are, and these are found whole. */
    private void passOver(CreateIndex create, CatalogObject relation) {
        for (String column : create.beside()) {
            if (relation.schema().indexOf(column) < 0) {
                throw MillraceException.user(SqlState.UNDEFINED_COLUMN, "column \"" + column + "\" does not exist");
            }
        }
        if (!create.beside().isEmpty()) {
            notices.accept("INCLUDE and DISTRIBUTED BY have no effect here: an index finds whole rows");
        }
    }

    /** Whether it is the one that a materialized view is shown with before any is made, as pg_dump writes it. */
    private static boolean isKeyOfView(CreateIndex create, CatalogObject relation) {
        List<String> key = relation.primaryKey().stream()
                .map(column -> relation.schema().field(column).name())
                .toList();
        return relation.kind() == ObjectKind.MATERIALIZED_VIEW
                && create.unique()
                && create.name().equals(Optional.of(relation.name() + "_pkey"))
                && create.columns().stream()
                        .map(IndexStatement.Column::name)
                        .toList()
                        .equals(key);
    }

    private void add(CatalogObject relation, Index index) {
        if (index.unique()) {
            requireUniqueHolds(relation, index);
        }
        database.engine()
                .kept(relation.name())
                .ifPresent(rows -> rows.indexes().make(new OrderedColumns(index.keys())));
        if (index.unique() && relation.kind() == ObjectKind.TABLE) {
            tableRows.enforce(withUniques(relation, List.of(index)));
        }
        catalog().add(object(index, relation.schema(), database.catalogStore().creationMicros()), index);
        held.made(index.name(), () -> {
            catalog().remove(index.name());
            dropUnused(index.relation(), index.keys());
        });
    }

    private static CatalogObject object(Index index, Schema schema, long createdMicros) {
        return new CatalogObject(
                index.name(),
                ObjectKind.INDEX,
                schema.select(index.columns()),
                false,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Set.of(), // it goes with its relation
                Map.of(),
                index.definition(schema),
                createdMicros,
                TableRules.NONE);
    }

    private static List<OrderKey> keys(CreateIndex create, Schema schema) {
        List<OrderKey> keys = new ArrayList<>();
        for (IndexStatement.Column column : create.columns()) {
            int place = schema.indexOf(column.name());
            if (place < 0) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN, "column \"" + column.name() + "\" does not exist");
                throw Suggestion.nearest(column.name(), schema.names())
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElse(error);
            }
            keys.add(new OrderKey(place, column.descending(), column.nullsFirst()));
        }
        return keys;
    }

    /** As PostgreSQL names an index that was given no name. */
    private String freeName(CreateIndex create) {
        StringBuilder name = new StringBuilder(create.relation());
        create.columns().forEach(column -> name.append('_').append(column.name()));
        create.beside().forEach(column -> name.append('_').append(column));
        name.append("_idx");
        String free = name.toString();
        for (int number = 1; isTaken(free); number++) {
            free = name.toString() + number;
        }
        return free;
    }

    private boolean isTaken(String name) {
        return catalog().object(name).isPresent();
    }

    // ---- UNIQUE ----------------------------------------------------------------------------------------------------

    /** Rows of a view come from its query: nobody could be told that one of them is not wanted. */
    private void requireUniqueHolds(CatalogObject relation, Index index) {
        boolean known = !relation.primaryKey().isEmpty() && index.columns().containsAll(relation.primaryKey());
        if (relation.kind() == ObjectKind.MATERIALIZED_VIEW && !known) {
            throw MillraceException.notAvailableYet(
                            "a unique index on a materialized view whose query does not make its columns unique")
                    .withHint("rows of a view cannot be refused; GROUP BY or DISTINCT of the columns makes them unique,"
                            + " and an index without UNIQUE serves the same queries");
        }
    }

    private static CatalogObject withUniques(CatalogObject table, List<Index> indexes) {
        List<Unique> uniques = new ArrayList<>(table.rules().uniques());
        for (Index index : indexes) {
            List<String> names = index.columns().stream()
                    .map(column -> table.schema().field(column).name())
                    .toList();
            uniques.add(new Unique(index.name(), names));
        }
        return withUniquesOnly(table, uniques);
    }

    private static CatalogObject withUniquesOnly(CatalogObject table, List<Unique> uniques) {
        return table.withRules(table.rules().withUniques(uniques));
    }

    /** A table as its own definition has it, without what unique indexes add. */
    CatalogObject withoutIndexes(CatalogObject table) {
        Set<String> names = new HashSet<>();
        catalog().indexes(table.name()).forEach(index -> names.add(index.name()));
        List<Unique> own = table.rules().uniques().stream()
                .filter(unique -> !names.contains(unique.name()))
                .toList();
        return withUniquesOnly(table, own);
    }

    // ---- what else happens to them ---------------------------------------------------------------------------------

    /** Gives an index that is there another name. */
    void rename(String name, String newName) {
        rename(new RenameIndex(name, false, newName));
    }

    private Command rename(RenameIndex rename) {
        Optional<Index> found = catalog().index(rename.name());
        if (found.isEmpty()) {
            if (catalog().object(rename.name()).isPresent()) {
                catalog().require(ObjectKind.INDEX, rename.name()); // which says what it is
            }
            if (!rename.ifExists()) {
                throw undefined(rename.name());
            }
            notices.accept("relation \"" + rename.name() + "\" does not exist, skipping");
            return Command.of("ALTER INDEX");
        }
        if (isTaken(rename.newName())) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_TABLE, "relation \"" + rename.newName() + "\" already exists");
        }
        Index index = found.get();
        Index renamed = index.named(rename.newName());
        CatalogObject relation = catalog().object(index.relation()).orElseThrow();
        if (index.unique() && relation.kind() == ObjectKind.TABLE) {
            List<Unique> uniques = relation.rules().uniques().stream()
                    .map(unique ->
                            unique.name().equals(index.name()) ? new Unique(renamed.name(), unique.columns()) : unique)
                    .toList();
            tableRows.enforce(withUniquesOnly(relation, uniques));
        }
        long createdMicros = catalog().object(index.name()).orElseThrow().createdMicros();
        Map<Commented, String> comments = catalog().comments().about(index.name());
        takeOut(index);
        catalog().add(object(renamed, relation.schema(), createdMicros), renamed);
        comments.forEach((on, text) -> catalog().comments().put(on.of(renamed.name()), Optional.of(text)));
        held.made(renamed.name(), () -> catalog().remove(renamed.name()));
        return Command.of("ALTER INDEX");
    }

    private Command reindex(Reindex reindex) {
        if (reindex.index() && catalog().index(reindex.name()).isEmpty()) {
            throw undefined(reindex.name());
        }
        if (!reindex.index() && catalog().object(reindex.name()).isEmpty()) {
            throw DatabaseCatalog.undefined(
                    "relation", reindex.name(), catalog().relationNames());
        }
        notices.accept(IndexStatement.ALWAYS_CURRENT);
        return Command.of("REINDEX");
    }

    /** The error for an index that is not there. */
    public static MillraceException undefined(String name) {
        return MillraceException.user(SqlState.UNDEFINED_OBJECT, "index \"" + name + "\" does not exist");
    }

    /** Drops an index. */
    public void drop(Index index) {
        CatalogObject relation = catalog().object(index.relation()).orElseThrow();
        if (index.unique() && relation.kind() == ObjectKind.TABLE) {
            List<Unique> uniques = relation.rules().uniques().stream()
                    .filter(unique -> !unique.name().equals(index.name()))
                    .toList();
            tableRows.enforce(withUniquesOnly(relation, uniques));
        }
        takeOut(index);
        held.step(() -> {}, () -> dropUnused(index.relation(), index.keys()));
    }

    /** Takes an index out of the catalog, unless that is undone. */
    private void takeOut(Index index) {
        String name = index.name();
        long number = database.catalogStore().numberOf(name);
        TakenOut taken = catalog().takeOut(name);
        held.step(
                () -> {
                    database.catalogStore().comesBack(name, number, false);
                    catalog().putBack(taken);
                },
                () -> {});
    }

    /** Takes the indexes of a relation out that a transaction drops. */
    void takeOut(String relation) {
        catalog().indexes(relation).forEach(index -> {
            takeOut(index);
            catalog().roles().forget(index.name());
        });
    }

    /** Takes the indexes of a relation that is dropped out of the catalog; returns their names. */
    List<String> forget(String relation) {
        List<String> names =
                catalog().indexes(relation).stream().map(Index::name).toList();
        names.forEach(catalog()::remove);
        return names;
    }

    private void dropUnused(String relation, List<OrderKey> keys) {
        boolean used = catalog().indexes(relation).stream()
                .anyMatch(index -> index.keys().equals(keys));
        if (!used) {
            database.engine().kept(relation).ifPresent(rows -> rows.indexes().drop(new OrderedColumns(keys)));
        }
    }

    /** Indexes of a table as they are when columns were renamed and dropped: one that had a dropped column goes. */
    List<Index> altered(CatalogObject before, CatalogObject after, List<AlterTable.Action> actions) {
        List<Index> stay = new ArrayList<>();
        for (Index index : catalog().indexes(before.name())) {
            List<String> names = new ArrayList<>();
            index.columns()
                    .forEach(column -> names.add(before.schema().field(column).name()));
            for (AlterTable.Action action : actions) {
                if (action instanceof AlterTable.RenameColumn rename) {
                    names.replaceAll(name -> name.equals(rename.column()) ? rename.newName() : name);
                } else if (action instanceof AlterTable.DropColumn drop) {
                    names.replaceAll(name -> name.equals(drop.column()) ? "" : name);
                }
            }
            moved(index, names, after.schema()).ifPresent(stay::add);
        }
        return stay;
    }

    private static Optional<Index> moved(Index index, List<String> names, Schema schema) {
        List<OrderKey> keys = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            int place = schema.indexOf(names.get(i));
            if (place < 0) {
                return Optional.empty();
            }
            OrderKey key = index.keys().get(i);
            keys.add(new OrderKey(place, key.descending(), key.nullsFirst()));
        }
        return Optional.of(index.withKeys(keys));
    }

    /** A table with the rules that unique indexes add. */
    static CatalogObject withIndexes(CatalogObject table, List<Index> indexes) {
        return withUniques(table, indexes.stream().filter(Index::unique).toList());
    }

    /** Indexes of a view as they are when its query is another: by the names of its columns. */
    List<Index> altered(CatalogObject before, CatalogObject after) {
        List<Index> stay = altered(before, after, List.of());
        stay.removeIf(index -> index.unique() && !index.columns().containsAll(after.primaryKey())
                || index.unique() && after.primaryKey().isEmpty());
        return stay;
    }

    /** Has a relation that was altered have these indexes and no others. */
    void replace(CatalogObject relation, List<Index> indexes) {
        for (Index index : catalog().indexes(relation.name())) {
            long createdMicros = catalog().object(index.name()).orElseThrow().createdMicros();
            Optional<Index> stays = indexes.stream()
                    .filter(other -> other.name().equals(index.name()))
                    .findFirst();
            Map<Commented, String> comments = catalog().comments().about(index.name());
            takeOut(index);
            stays.ifPresent(now -> {
                catalog().add(object(now, relation.schema(), createdMicros), now);
                catalog().comments().putAll(comments);
                held.made(now.name(), () -> catalog().remove(now.name()));
            });
        }
        for (Index index : indexes) {
            try {
                database.engine()
                        .kept(relation.name())
                        .ifPresent(rows -> rows.indexes().make(new OrderedColumns(index.keys())));
            } catch (OutOfMemoryException e) {
                // it is made when somebody reads by it, if there is memory then
            }
        }
    }
}
