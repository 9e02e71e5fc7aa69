package dev.millrace.server.names;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * The temporary tables and views of one session: relations of the catalog like others, under names that begin with the session's number.
 * The session means them by their plain names before it means others of the same name. Belongs to the session's thread.
 */
public final class TemporaryRelations {
    private final DatabaseCatalog catalog;
    private final IntSupplier session;
    private boolean used;

    /** @param session its number, which no other session of the database has; asked for when there is something to name */
    public TemporaryRelations(DatabaseCatalog catalog, IntSupplier session) {
        this.catalog = catalog;
        this.session = session;
    }

    /** Whether the session has ever had one: before that no name means one. */
    public boolean areUsed() {
        return used;
    }

    private String prefix() {
        return RelationNames.OF_SESSION + session.getAsInt() + ".";
    }

    /** The name in the catalog of one that is to be made, given as {@code pg_temp.name}. */
    public String nameNew(String temporary) {
        used = true;
        return prefix() + RelationNames.shown(temporary);
    }

    /** The name in the catalog of the one that a statement means by a name, with or without {@code pg_temp}, if it means one. */
    public Optional<String> find(String name) {
        if (!used) {
            return Optional.empty();
        }
        return Optional.of(prefix() + RelationNames.shown(name))
                .filter(found -> catalog.object(found).isPresent());
    }

    /** All there are of a kind, by their names in the catalog. */
    public List<String> all(ObjectKind kind) {
        return used
                ? catalog.objects(kind).stream()
                        .map(CatalogObject::name)
                        .filter(name -> name.startsWith(prefix()))
                        .toList()
                : List.of();
    }
}
