package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.Role;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Comments as PostgreSQL's catalog has them: those that somebody made, and nothing that the system says by itself, as tools write all of them into dumps and compare them
 * with their own.
 */
final class CommentContents {
    private static final int PG_DATABASE = 1262;
    private static final int PG_AUTHID = 1260;
    private static final int PG_CLASS = 1259;
    private static final int PG_PROC = 1255;
    private static final int PG_CONSTRAINT = 2606;
    private static final int PG_NAMESPACE = 2615;

    private final DatabaseCatalog catalog;
    private final Oids oids;

    CommentContents(DatabaseCatalog catalog, Oids oids) {
        this.catalog = catalog;
        this.oids = oids;
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put("pg_catalog.pg_description", this::descriptions);
        fillers.put("pg_catalog.pg_shdescription", this::shared);
    }

    private void descriptions(NamedRows rows) {
        catalog.comments().all().forEach((on, text) -> {
            if (RelationNames.isSchema(on.name())) {
                add(rows, oids.ofSchema(RelationNames.shown(on.name())), PG_NAMESPACE, 0, text);
            } else {
                catalog.object(on.name()).ifPresent(object -> add(rows, object, on, text));
            }
        });
    }

    private void add(NamedRows rows, CatalogObject object, Commented on, String text) {
        String qualified = catalog.schemaOf(object.name()) + "." + catalog.withoutSchema(object.name());
        switch (on.kind()) {
            case COLUMN ->
                add(rows, oids.of(qualified), PG_CLASS, object.schema().indexOf(on.part()) + 1, text);
            case CONSTRAINT -> add(rows, constraint(object, qualified, on.part()), PG_CONSTRAINT, 0, text);
            case THING -> {
                boolean isFunction = object.kind() == ObjectKind.FUNCTION;
                add(rows, oids.of(isFunction ? qualified + "()" : qualified), isFunction ? PG_PROC : PG_CLASS, 0, text);
            }
        }
    }

    private int constraint(CatalogObject table, String qualified, String name) {
        boolean isCheck =
                table.rules().checks().stream().anyMatch(check -> check.name().equals(name));
        return oids.of(qualified + (name.isEmpty() ? " primary key" : (isCheck ? " check " : " unique ") + name));
    }

    private static void add(NamedRows rows, int number, int of, int column, String text) {
        rows.add("objoid", number, "classoid", of, "objsubid", column, "description", text);
    }

    private void shared(NamedRows rows) {
        catalog.comments()
                .on(Commented.DATABASE)
                .ifPresent(text -> rows.add("objoid", Oids.DATABASE, "classoid", PG_DATABASE, "description", text));
        for (Role role : catalog.roles().all()) {
            Optional<String> comment = role.comment();
            comment.ifPresent(text -> rows.add("objoid", role.id(), "classoid", PG_AUTHID, "description", text));
        }
    }
}
