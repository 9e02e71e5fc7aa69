package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.catalog.RelationNames;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Numbers for what has a name, given when they are first asked for. Safe on any thread. */
final class Oids implements DatabaseCatalog.Listener {
    /** The first that PostgreSQL gives to what users make; below are its own relations, and those of other schemas. */
    private static final int FIRST_MADE = 16384;

    private static final int FIRST_ELSEWHERE = 13100;
    /** Behind all numbers that PostgreSQL 15 has itself. */
    private static final int FIRST_OWN = 10_000;

    static final int PG_CATALOG = 11;
    static final int INFORMATION_SCHEMA = 13000;
    static final int MILLRACE = 13001;
    static final int PUBLIC = 2200;
    static final int OWNER = 10;
    static final int DATABASE = 5;
    static final int DEFAULT_TABLESPACE = 1663;
    static final int SHARED_TABLESPACE = 1664;
    static final int HEAP = 2;
    static final int BTREE = 403;
    static final int HASH = 405;
    static final int DEFAULT_COLLATION = 100;

    private final Map<String, Integer> byName = new ConcurrentHashMap<>();
    private final Map<Integer, String> names = new ConcurrentHashMap<>();
    private final AtomicInteger nextMade = new AtomicInteger(FIRST_MADE);
    private final AtomicInteger nextElsewhere = new AtomicInteger(FIRST_ELSEWHERE);
    private final AtomicInteger nextOwn = new AtomicInteger(FIRST_OWN);

    /** Of a relation, by its name with its schema. */
    int of(String name) {
        return byName.computeIfAbsent(name, unknown -> {
            int number = numbers(unknown).getAndIncrement();
            names.put(number, unknown);
            return number;
        });
    }

    /** Of what has a name in the catalog. */
    int ofObject(DatabaseCatalog catalog, String name) {
        return of(catalog.schemaOf(name) + "." + catalog.withoutSchema(name));
    }

    /** What has a number that was given. */
    Optional<String> name(int number) {
        return Optional.ofNullable(names.get(number));
    }

    /** Gives something the number that it has everywhere; before anybody asks for it. */
    void set(String name, int number) {
        byName.put(name, number);
        names.put(number, name);
    }

    private AtomicInteger numbers(String name) {
        if (name.startsWith("pg_catalog.")) {
            return nextOwn;
        }
        return RelationNames.isOfSystem(RelationNames.prefix(name)) ? nextElsewhere : nextMade;
    }

    // ---- other names -----------------------------------------------------------------------------------------------

    @Override
    public void defined(CatalogObject object) {}

    @Override
    public void removed(String name) {}

    /** What has another name keeps its number. */
    @Override
    public void renamed(Map<String, CatalogObject> now) {
        Map<String, String> moved = new HashMap<>();
        now.forEach((name, object) -> {
            if (!name.equals(object.name())) {
                moved.put(byName.containsKey(name) ? name : withSchema(name), withSchema(object.name()));
            }
        });
        RelationNames.rename(byName, moved);
        moved.values()
                .forEach(name -> Optional.ofNullable(byName.get(name)).ifPresent(number -> names.put(number, name)));
    }

    private static String withSchema(String name) {
        return name.indexOf('.') < 0 ? RelationNames.PUBLIC + "." + name : name;
    }

    /** The schema of a number. */
    Optional<String> schema(int number) {
        return switch (number) {
            case PG_CATALOG -> Optional.of("pg_catalog");
            case INFORMATION_SCHEMA -> Optional.of("information_schema");
            case MILLRACE -> Optional.of("millrace");
            case PUBLIC -> Optional.of("public");
            default -> name(number).filter(RelationNames::isSchema).map(RelationNames::shown);
        };
    }

    int ofSchema(String schema) {
        return switch (schema) {
            case "pg_catalog" -> PG_CATALOG;
            case "information_schema" -> INFORMATION_SCHEMA;
            case "millrace" -> MILLRACE;
            case RelationNames.PUBLIC -> PUBLIC;
            default -> of(RelationNames.ofSchema(schema));
        };
    }
}
