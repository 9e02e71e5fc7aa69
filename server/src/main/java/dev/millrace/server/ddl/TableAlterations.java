package dev.millrace.server.ddl;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Comments;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.catalog.RowNumbers;
import dev.millrace.server.dml.IncomingRows;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.CreateTable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * ALTER TABLE of columns and constraints. The rows are computed anew as the table will have them and checked, and then take the
 * place of those that are there, with the table's lock held; nothing happened when any of that fails.
 *
 * <p>Queries that run over the table go on, as long as the columns that they know stay what they are: new ones come behind
 * them. What would change those is refused while anything reads the table.
 */
public final class TableAlterations {
    private final Instance database;
    private final Definitions definitions;
    private final Drops drops;
    private final Indexes indexes;
    private final Queries queries;
    private final TableRows tableRows;
    private final HeldDefinitions held;
    private final IncomingRows incoming;
    private final Consumer<String> notices;

    public TableAlterations(
            Instance database,
            Definitions definitions,
            Drops drops,
            Indexes indexes,
            Queries queries,
            Transactions transactions,
            HeldDefinitions held,
            Consumer<String> notices) {
        this.database = database;
        this.definitions = definitions;
        this.drops = drops;
        this.indexes = indexes;
        this.queries = queries;
        this.tableRows = new TableRows(database, queries, transactions, held);
        this.held = held;
        this.incoming = new IncomingRows(database, queries);
        this.notices = notices;
    }

    public Command alter(AlterTable alter) {
        database.lockDefinitions();
        try {
            if (alter.ifExists() && database.catalog().object(alter.name()).isEmpty()) {
                notices.accept("relation \"" + alter.name() + "\" does not exist, skipping");
                return Command.of("ALTER TABLE");
            }
            CatalogObject before = database.catalog().require(ObjectKind.TABLE, alter.name());
            if (database.feeds().isFed(before.name())) {
                throw MillraceException.notAvailableYet("ALTER TABLE of a table that a connector feeds")
                        .withHint("DROP TABLE and create it again with other columns: its rows come again");
            }
            TableShape shape = new TableShape(definitionOf(indexes.withoutIndexes(before)), this::bound, notices);
            List<AlterTable.Action> actions = applied(alter, shape);
            boolean isAsWritten = actions.stream().allMatch(AlterTable.Restart.class::isInstance);
            CatalogObject own = isAsWritten
                    ? asWritten(before, shape)
                    : definitions.table(shape.table(), shape.text(), before.createdMicros());
            List<Index> with = indexes.altered(before, own, actions);
            CatalogObject after = Indexes.withIndexes(own, with);
            requireSame(before, after, actions);
            RowNumbers numbers = database.catalog().numbers();
            Map<String, Long> given = numbers.last(before.name());
            Map<Commented, String> comments = comments(before.name(), actions);
            try {
                actions.forEach(action -> {
                    if (action instanceof AlterTable.Restart restart) {
                        numbers.set(before.name(), restart.column(), restart.next() - 1);
                    }
                });
                tableRows.replace(before, after, () -> rows(before, after, shape.values()));
            } catch (RuntimeException e) {
                actions.forEach(action -> {
                    if (action instanceof AlterTable.Restart restart) {
                        numbers.set(before.name(), restart.column(), given.getOrDefault(restart.column(), 0L));
                    }
                });
                throw e;
            }
            comments.keySet().removeIf(on -> !Comments.has(after, on));
            database.catalog().comments().putAbout(before.name(), comments);
            indexes.replace(after, with);
            actions.forEach(action -> {
                if (action instanceof AlterTable.RenameColumn rename) {
                    database.catalog().numbers().rename(before.name(), rename.column(), rename.newName());
                }
            });
            held.step(() -> numbers.restore(before.name(), given), () -> {});
            return Command.of("ALTER TABLE");
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** Applies the actions, and those that CASCADE adds before them; returns all in their order. */
    private List<AlterTable.Action> applied(AlterTable alter, TableShape shape) {
        List<AlterTable.Action> applied = new ArrayList<>();
        for (AlterTable.Action action : alter.actions()) {
            if (action instanceof AlterTable.DropColumn drop && drop.cascade()) {
                for (String computed : shape.computedFrom(drop.column())) {
                    notices.accept("drop cascades to column " + Identifiers.quote(computed) + " of table "
                            + RelationNames.quoted(alter.name()));
                    applied.add(new AlterTable.DropColumn(computed, false, false));
                    shape.apply(applied.get(applied.size() - 1));
                }
            }
            shape.apply(action);
            applied.add(action);
        }
        return applied;
    }

    /** Comments on a table when columns and constraints were dropped and have other names. */
    private Map<Commented, String> comments(String table, List<AlterTable.Action> actions) {
        Map<Commented, String> comments = database.catalog().comments().about(table);
        for (AlterTable.Action action : actions) {
            if (action instanceof AlterTable.DropColumn drop) {
                comments.remove(new Commented(Commented.Kind.COLUMN, table, drop.column()));
            } else if (action instanceof AlterTable.DropConstraint drop) {
                comments.remove(Comments.constraint(database.catalog(), table, drop.constraint()));
            } else if (action instanceof AlterTable.RenameConstraint rename) {
                String comment = comments.remove(Comments.constraint(database.catalog(), table, rename.constraint()));
                if (comment != null) {
                    comments.put(Comments.constraint(database.catalog(), table, rename.newName()), comment);
                }
            } else if (action instanceof AlterTable.RenameColumn rename) {
                String comment = comments.remove(new Commented(Commented.Kind.COLUMN, table, rename.column()));
                if (comment != null) {
                    comments.put(new Commented(Commented.Kind.COLUMN, table, rename.newName()), comment);
                }
            }
        }
        return comments;
    }

    private CatalogObject asWritten(CatalogObject before, TableShape shape) {
        try (PlainNumeric.Binding meaning = before.numeric().bind()) {
            return definitions.table(shape.table(), before.definition(), before.createdMicros());
        }
    }

    /** What the table's CREATE TABLE says, in other words if it was altered. */
    static CreateTable definitionOf(CatalogObject table) {
        return new CreateTable(
                table.name(),
                Statement.IfExists.FAIL,
                table.schema().fields(),
                table.primaryKey().stream()
                        .map(column -> table.schema().field(column).name())
                        .toList(),
                table.rules(),
                table.eventTime()
                        .map(time -> new Statement.WatermarkDefinition(
                                table.schema().field(time.column()).name(), time.delayMicros())),
                table.options());
    }

    private CreateTable bound(String text) {
        return (CreateTable) analyzed(text);
    }

    private Statement analyzed(String text) {
        try {
            return database.frontend()
                    .analyze(database.frontend().parse(text).get(0), database.catalog(), Parameters.none());
        } catch (MillraceException e) {
            throw e.at(0); // a place in another text
        }
    }

    // ---- what reads the table --------------------------------------------------------------------------------------

    /** What others read stays what it is. */
    private void requireSame(CatalogObject before, CatalogObject after, List<AlterTable.Action> actions) {
        List<String> dependents =
                database.catalog().dependents(before.name()).stream().sorted().toList();
        if (dependents.isEmpty()) {
            return;
        }
        boolean same = after.schema().size() >= before.schema().size()
                && after.primaryKey().containsAll(before.primaryKey());
        for (int column = 0; same && column < before.schema().size(); column++) {
            Field was = before.schema().field(column);
            Field is = after.schema().field(column);
            same = was.name().equals(is.name()) && was.type().equals(is.type()) && (was.nullable() || !is.nullable());
        }
        if (same) {
            return;
        }
        String readers = dependents.stream().map(drops::describe).collect(Collectors.joining(", "));
        boolean cascades = actions.stream()
                .anyMatch(action -> action instanceof AlterTable.DropColumn column && column.cascade()
                        || action instanceof AlterTable.DropConstraint constraint && constraint.cascade());
        if (cascades) {
            throw MillraceException.notAvailableYet("CASCADE of ALTER TABLE to what reads the table (" + readers + ")")
                    .withHint("DROP it first, alter the table, and create it again");
        }
        throw MillraceException.user(
                        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                        "cannot alter what others read of table \"" + before.name() + "\": " + readers)
                .withHint("drop them, alter the table, and create them again; ADD COLUMN, DEFAULT, CHECK and SET NOT"
                        + " NULL need none of that");
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    /** All rows as the table will have them, completed and checked. */
    private Batch rows(CatalogObject before, CatalogObject after, Map<String, String> values) {
        List<Integer> given = new ArrayList<>();
        List<String> items = new ArrayList<>();
        for (int column = 0; column < after.schema().size(); column++) {
            String name = after.schema().field(column).name();
            if (values.containsKey(name)) {
                given.add(column);
                items.add(values.get(name) + " AS " + Identifiers.quote(name));
            }
        }
        String text = "SELECT " + String.join(", ", items) + " FROM " + RelationNames.quoted(before.name());
        Query query = ((Statement.Select) analyzed(text)).query();
        return incoming.widened(queries.whole(queries.rows(query)), given, after);
    }
}
