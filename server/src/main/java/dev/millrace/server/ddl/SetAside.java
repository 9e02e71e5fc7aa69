package dev.millrace.server.ddl;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog.TakenOut;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An object that a transaction dropped: nobody finds it, and all that it has stays until the transaction ends. A table that clients write to
 * is under another name in the engine meanwhile, so that the name is free; others keep theirs, and go on.
 */
final class SetAside {
    private final Instance database;
    private final TakenOut taken;
    private final Optional<String> aside; // the name of its rows in the engine, if that is another
    private final Optional<StandingQuery> query;
    private final Optional<TableKeys> keys;
    private final long number;
    private final boolean hasRows;

    /**
     * @param movesRows whether it is a table that nothing but statements writes to
     * @param others names of queries that go with the transaction, too
     */
    SetAside(Instance database, CatalogObject object, boolean movesRows, Set<String> others) {
        this.database = database;
        String name = object.name();
        if (object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.STREAM) {
            requireUnread(name, others);
        }
        number = database.catalogStore().numberOf(name);
        hasRows = database.catalogStore().relationOf(number).equals(Optional.of(name));
        query = Optional.ofNullable(database.queries().remove(name));
        keys = Optional.ofNullable(database.tableKeys().remove(name));
        keys.ifPresent(of -> of.setAside(true));
        aside = movesRows ? Optional.of(database.droppedName(name)) : Optional.empty();
        aside.ifPresent(hidden -> database.engine().relations().rename(name, hidden));
        taken = database.catalog().takeOut(name);
    }

    private void requireUnread(String name, Set<String> others) {
        boolean isQuery = database.standing(name).isPresent();
        List<String> readers = isQuery
                ? List.of()
                : database.engine().relations().readers(name).stream()
                        .filter(reader -> !others.contains(reader))
                        .toList();
        if (!readers.isEmpty()) {
            throw MillraceException.user(
                    SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                    "cannot drop \"" + name + "\" because " + String.join(", ", readers) + " read it");
        }
    }

    /** It is there again. */
    void putBack() {
        String name = taken.object().name();
        aside.ifPresent(hidden -> database.engine().relations().rename(hidden, name));
        keys.ifPresent(of -> {
            of.setAside(false);
            database.tableKeys().put(name, of);
        });
        query.ifPresent(of -> database.queries().put(name, of));
        database.catalogStore().comesBack(name, number, hasRows);
        database.catalog().putBack(taken);
    }

    /** It is gone for good. */
    void free() {
        CatalogObject object = taken.object();
        if (aside.isPresent()) {
            database.engine().relations().drop(aside.get());
        } else {
            Drops.free(database, object, query);
        }
        keys.ifPresent(TableKeys::close);
    }
}
