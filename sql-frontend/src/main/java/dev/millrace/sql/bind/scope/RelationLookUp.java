package dev.millrace.sql.bind.scope;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;

/** Finds relations of the catalog by names that may begin with those of the database and a schema. */
public final class RelationLookUp {
    private RelationLookUp() {}

    /** A relation's name without that of the database, which may stand before its schema. Texts that are kept were of this one. */
    public static SqlIdentifier inDatabase(QueryContext context, SqlIdentifier name) {
        if (name.names.size() < 3) {
            return name;
        }
        boolean isOurs = name.names.size() == 3 && isOurs(context, name.names.get(0));
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

    private static boolean isOurs(QueryContext context, String database) {
        return context.catalog()
                .sessionFunction("current_database", List.of())
                .map(database::equals)
                .orElse(true);
    }

    /** A column's name without that of the database, which stands before its schema and relation; empty for any other. */
    public static Optional<SqlIdentifier> columnInDatabase(QueryContext context, SqlIdentifier name) {
        return Optional.of(name)
                .filter(column -> column.names.size() == 4 && isOurs(context, column.names.get(0)))
                .map(column -> new SqlIdentifier(column.names.subList(1, 4), column.getParserPosition()));
    }

    /** The relation of a name, which the statement refers to then, if there is one. */
    public static Optional<Relation> find(QueryContext context, SqlIdentifier written) {
        SqlIdentifier identifier = inDatabase(context, written);
        Catalog catalog = context.catalog();
        String schema = identifier.isSimple() ? "" : identifier.names.get(0);
        Optional<Relation> found = identifier.isSimple() || schema.equals(RelationNames.TEMPORARY)
                ? catalog.relation(RelationNames.written(identifier.names))
                : catalog.exactRelation(RelationNames.of(identifier.names));
        Optional<Relation> there = found.filter(relation ->
                schema.isEmpty() || catalog.schemaOf(relation.name()).equals(schema) || isOfSession(schema, relation));
        there.ifPresent(relation -> context.refersTo(written, relation.name()));
        return there;
    }

    /** Whether a schema is that of a session's temporary relations by the name that it has in the catalog. */
    private static boolean isOfSession(String schema, Relation relation) {
        return RelationNames.isOfSession(relation.name())
                && RelationNames.prefix(relation.name()).equals(schema);
    }

    /** The relation of a name, or 42P01. */
    public static Relation of(QueryContext context, SqlIdentifier written) {
        return find(context, written).orElseThrow(() -> {
            SqlIdentifier identifier = inDatabase(context, written);
            String name = RelationNames.of(identifier.names);
            return Errors.suggest(
                    Errors.error(SqlState.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist", identifier),
                    name,
                    context.catalog().relationNames());
        });
    }
}
