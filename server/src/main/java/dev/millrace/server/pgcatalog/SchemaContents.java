package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.DefaultTarget;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Securable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The schemas: those of the system, {@code public}, and those that users made. */
final class SchemaContents {
    /** Whose privileges are written out, as in PostgreSQL: pg_dump takes them for revoked otherwise. */
    private static final Securable PUBLIC = new Securable(Securable.Kind.SCHEMA, RelationNames.PUBLIC);

    private final DatabaseCatalog catalog;
    private final RoleContents roles;
    private final Oids oids;

    SchemaContents(DatabaseCatalog catalog, RoleContents roles, Oids oids) {
        this.catalog = catalog;
        this.roles = roles;
        this.oids = oids;
    }

    static List<String> names(DatabaseCatalog catalog) {
        List<String> names =
                new ArrayList<>(List.of("pg_catalog", "information_schema", "millrace", RelationNames.PUBLIC));
        names.addAll(new TreeSet<>(catalog.schemas()));
        return names;
    }

    void namespaces(NamedRows rows) {
        for (String schema : names(catalog)) {
            rows.add(
                    "oid",
                    oids.ofSchema(schema),
                    "nspname",
                    schema,
                    "nspowner",
                    roles.ownerOid(RelationNames.ofSchema(schema)),
                    "nspacl",
                    roles.access(new Securable(Securable.Kind.SCHEMA, schema))
                            .or(() -> schema.equals(RelationNames.PUBLIC)
                                    ? Optional.of(roles.allTexts(PUBLIC))
                                    : Optional.empty()));
        }
    }

    /** {@code pg_default_acl}: what may be done with objects that are not there yet. */
    void defaultAccess(NamedRows rows) {
        int number = 0;
        for (Map.Entry<DefaultTarget, List<String>> entry :
                catalog.roles().defaultAccessTexts().entrySet()) {
            DefaultTarget target = entry.getKey();
            rows.add(
                    "oid",
                    ++number,
                    "defaclrole",
                    roles.oid(target.role()),
                    "defaclnamespace",
                    target.schema().map(oids::ofSchema).orElse(0),
                    "defaclobjtype",
                    target.kind() == Securable.Kind.RELATION
                            ? "r"
                            : target.kind() == Securable.Kind.FUNCTION ? "f" : "n",
                    "defaclacl",
                    entry.getValue());
        }
    }
}
