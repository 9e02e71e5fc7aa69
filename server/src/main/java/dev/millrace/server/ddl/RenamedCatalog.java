package dev.millrace.server.ddl;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.PlainNumeric;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The catalog as it is going to be when objects have other names: by it texts are bound before anything is changed. */
final class RenamedCatalog implements Catalog {
    private final DatabaseCatalog before;
    private final Map<String, CatalogObject> now; // by the names that they had
    private final Map<String, CatalogObject> byNewName = new HashMap<>();

    RenamedCatalog(DatabaseCatalog before, Map<String, CatalogObject> now) {
        this.before = before;
        this.now = now;
        now.values().forEach(object -> byNewName.put(object.name(), object));
    }

    private Optional<CatalogObject> object(String name) {
        CatalogObject object = byNewName.get(name);
        return object != null || now.containsKey(name) ? Optional.ofNullable(object) : before.object(name);
    }

    @Override
    public Optional<Relation> relation(String name) {
        Optional<CatalogObject> object = object(name);
        return object.isPresent() ? object.get().relation() : before.system(name);
    }

    @Override
    public boolean isSchema(String name) {
        return RelationNames.isAlwaysThere(name)
                || object(RelationNames.ofSchema(name)).isPresent();
    }

    @Override
    public Optional<String> viewQuery(String name) {
        return object(name).filter(object -> object.kind() == ObjectKind.VIEW).map(CatalogObject::queryText);
    }

    @Override
    public PlainNumeric numericIn(String relation) {
        return object(relation).map(CatalogObject::numeric).orElse(PlainNumeric.UNLIMITED);
    }

    @Override
    public Optional<UserFunction> userFunction(String name) {
        return before.userFunction(name);
    }

    @Override
    public Collection<String> relationNames() {
        return before.relationNames();
    }
}
