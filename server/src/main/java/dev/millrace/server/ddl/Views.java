package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.FileScans;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** CREATE VIEW. */
public final class Views {
    private final Instance database;
    private final Definitions definitions;
    private final Drops drops;
    private final HeldDefinitions held;

    public Views(Instance database, Definitions definitions, Drops drops, HeldDefinitions held) {
        this.database = database;
        this.held = held;
        this.definitions = definitions;
        this.drops = drops;
    }

    /** A view keeps nothing: its text is expanded where it is read. */
    public Command create(Statement.CreateView create, String text) {
        FileScans.requireNone(create.query(), "a view");
        CatalogObject view = new CatalogObject(
                create.name(),
                ObjectKind.VIEW,
                create.query().schema(),
                false,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                create.query().named(), // whose rows views among them read is for their owners to be asked
                Map.of(),
                text,
                database.catalogStore().creationMicros(),
                TableRules.NONE);
        database.lockDefinitions();
        try {
            Optional<CatalogObject> before =
                    database.catalog().object(create.name()).filter(object -> object.kind() == ObjectKind.VIEW);
            if (create.ifExists() != IfExists.REPLACE || before.isEmpty()) {
                return definitions.create(ObjectKind.VIEW, create.name(), create.ifExists(), () -> view);
            }
            requireReplaceable(before.get(), view);
            database.catalog().replace(view);
            held.changed(view.name());
            held.step(() -> database.catalog().replace(before.get()), () -> {});
            return Command.of("CREATE VIEW");
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** Whether a column is of numbers of any size that nothing reads as the fewer digits which NUMERIC meant to the view of before. */
    private boolean isMeantAnew(CatalogObject before, Field old, Field now) {
        return before.numeric() == PlainNumeric.LIMITED
                && old.type().isExact()
                && now.type().isExact()
                && database.catalog().dependents(before.name()).isEmpty();
    }

    private void requireReplaceable(CatalogObject before, CatalogObject after) {
        if (database.catalog().withDependents(before.name()).stream().anyMatch(after.reads()::contains)) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "view \"" + before.name() + "\" would read itself");
        }
        List<Field> old = before.schema().fields();
        List<Field> now = after.schema().fields();
        if (now.size() < old.size()) {
            throw MillraceException.user(SqlState.INVALID_TABLE_DEFINITION, "cannot drop columns from view");
        }
        for (int i = 0; i < old.size(); i++) {
            if (!old.get(i).name().equals(now.get(i).name())) {
                throw MillraceException.user(
                        SqlState.INVALID_TABLE_DEFINITION,
                        "cannot change name of view column \"" + old.get(i).name() + "\" to \""
                                + now.get(i).name() + "\"");
            }
            if (!old.get(i).type().equals(now.get(i).type()) && !isMeantAnew(before, old.get(i), now.get(i))) {
                throw MillraceException.user(
                        SqlState.INVALID_TABLE_DEFINITION,
                        "cannot change data type of view column \"" + old.get(i).name() + "\" from "
                                + old.get(i).type() + " to " + now.get(i).type());
            }
        }
        List<String> running = database.catalog().withDependents(before.name()).stream()
                .filter(name -> database.standing(name).isPresent())
                .toList();
        if (!running.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot replace view \"" + before.name() + "\" because queries run over it: "
                                    + String.join(
                                            ", ",
                                            running.stream()
                                                    .map(drops::describe)
                                                    .toList()))
                    .withHint("drop them, replace the view, and create them again");
        }
    }
}
