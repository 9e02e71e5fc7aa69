package dev.millrace.sql.bind.scope;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.syntax.RelationNames;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;

/** Finds relations of the catalog by names that may begin with those of the database and a schema. */
public final class RelationLookUp {
    private RelationLookUp() {}

    /** A relation's name without that of the database, which may stand before its schema. */
    public static SqlIdentifier inDatabase(QueryContext context, SqlIdentifier name) {
        if (name.names.size() < 3) {
            return name;
        }
        boolean isOurs = name.names.size() == 3
                && context.catalog()
                        .sessionFunction("current_database", List.of())
                        .equals(Optional.of(name.names.get(0)));
        if (!isOurs) {
            throw Errors.error(
                    name.names.size() == 3 ? SqlState.FEATURE_NOT_SUPPORTED : SqlState.SYNTAX_ERROR,
                    name.names.size() == 3
                            ? "cross-database references are not implemented: \"" + String.join(".", name.names) + "\""
                            : "improper relation name (too many dotted names): " + String.join(".", name.names),
                    name);
        }
        return new SqlIdentifier(name.names.subList(1, 3), name.getParserPosition());
    }

    private static boolean isPublic(SqlIdentifier name) {
        return name.names.size() > 1 && RelationNames.of(name.names).indexOf('.') < 0;
    }

    private static boolean isIn(String schema, Relation relation) {
        return RelationNames.schemaOf(relation.name()).equals(schema);
    }

    /** The relation of a name, or 42P01. */
    public static Relation of(QueryContext context, SqlIdentifier written) {
        SqlIdentifier identifier = inDatabase(context, written);
        String name = RelationNames.of(identifier.names);
        return Optional.of(name)
                .filter(known -> identifier.isSimple() || RelationNames.isSchema(identifier.names.get(0)))
                .flatMap(known -> isPublic(identifier)
                        ? context.catalog().permanentRelation(known)
                        : context.catalog().relation(known))
                .filter(found -> identifier.isSimple() || isIn(identifier.names.get(0), found))
                .orElseThrow(() -> Errors.suggest(
                        Errors.error(SqlState.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist", identifier),
                        name,
                        context.catalog().relationNames()));
    }
}
