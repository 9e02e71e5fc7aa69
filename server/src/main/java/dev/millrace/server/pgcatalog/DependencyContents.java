package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.settings.ProductVersion;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What depends on what: views, and by the rule that PostgreSQL has for each, on what they read, which tools make first. What is in the schema {@code millrace} belongs to an extension of
 * that name, which is there from the beginning: so tools know that it is nothing of users', and pg_dump leaves it out.
 */
final class DependencyContents {
    private static final String NAME = "millrace";
    private static final int OID = 13095; // among those of what is there from the beginning
    private static final int PG_CLASS = 1259;
    private static final int PG_CONSTRAINT = 2606;
    private static final int PG_NAMESPACE = 2615;
    private static final int PG_REWRITE = 2618;
    private static final int PG_EXTENSION = 3079;

    private final Oids oids;
    private final Supplier<List<ShownRelation>> relations;
    private final DatabaseCatalog catalog;

    DependencyContents(Oids oids, Supplier<List<ShownRelation>> relations, DatabaseCatalog catalog) {
        this.oids = oids;
        this.relations = relations;
        this.catalog = catalog;
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put("pg_catalog.pg_extension", DependencyContents::extension);
        fillers.put("pg_catalog.pg_depend", this::dependencies);
        fillers.put("pg_catalog.pg_rewrite", this::rules);
    }

    private static void extension(NamedRows rows) {
        rows.add(
                "oid",
                OID,
                "extname",
                NAME,
                "extowner",
                Oids.OWNER,
                "extnamespace",
                Oids.MILLRACE,
                "extrelocatable",
                false,
                "extversion",
                ProductVersion.TEXT);
    }

    private void dependencies(NamedRows rows) {
        depend(rows, PG_NAMESPACE, Oids.MILLRACE, PG_EXTENSION, OID, "e");
        foreignKeys(rows);
        for (ShownRelation relation : relations.get()) {
            int number = oids.of(relation.qualifiedName());
            if (relation.schemaName().equals(NAME)) {
                depend(rows, PG_CLASS, number, PG_EXTENSION, OID, "e");
            } else if (relation.object().isPresent()) {
                if (hasRule(relation)) {
                    depend(rows, PG_REWRITE, rule(relation), PG_CLASS, number, "i");
                }
                for (String read : relation.object().get().reads()) {
                    if (catalog.object(read).isPresent()) {
                        int of = oids.ofObject(catalog, read);
                        depend(rows, PG_CLASS, number, PG_CLASS, of, "n");
                        if (hasRule(relation)) {
                            depend(rows, PG_REWRITE, rule(relation), PG_CLASS, of, "n");
                        }
                    }
                }
            }
        }
    }

    /** Foreign keys depend on both tables, and on the index of the key that they reference. */
    private void foreignKeys(NamedRows rows) {
        for (ForeignKeyContents.Shown shown : new ForeignKeyContents(catalog).all(relations.get())) {
            int number = oids.of(shown.numberedName());
            depend(rows, PG_CONSTRAINT, number, PG_CLASS, oids.of(shown.table().qualifiedName()), "a");
            depend(
                    rows,
                    PG_CONSTRAINT,
                    number,
                    PG_CLASS,
                    oids.of(shown.referenced().qualifiedName()),
                    "n");
            depend(rows, PG_CONSTRAINT, number, PG_CLASS, oids.of(shown.unique().indexName()), "n");
        }
    }

    private void rules(NamedRows rows) {
        for (ShownRelation relation : relations.get()) {
            if (relation.object().isPresent() && hasRule(relation)) {
                rows.add(
                        "oid",
                        rule(relation),
                        "rulename",
                        "_RETURN",
                        "ev_class",
                        oids.of(relation.qualifiedName()),
                        "ev_type",
                        "1",
                        "ev_enabled",
                        "O",
                        "is_instead",
                        true);
            }
        }
    }

    private static boolean hasRule(ShownRelation relation) {
        return !relation.kind().equals("r");
    }

    private int rule(ShownRelation relation) {
        return oids.of(relation.qualifiedName() + " _RETURN");
    }

    private static void depend(NamedRows rows, int kind, int oid, int ofKind, int of, String how) {
        rows.add(
                "classid",
                kind,
                "objid",
                oid,
                "objsubid",
                0,
                "refclassid",
                ofKind,
                "refobjid",
                of,
                "refobjsubid",
                0,
                "deptype",
                how);
    }
}
