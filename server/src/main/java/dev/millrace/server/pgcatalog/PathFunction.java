package dev.millrace.server.pgcatalog;

import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.udf.ScalarFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What names of relations mean where they are looked for in some schemas: {@code by_path(question, schemas, argument)}, all of them texts, the schemas as {@code
 * search_path} has them.
 *
 * <pre>
 *   visible     number   t if the relation is the first of its name, or what is none is in one of the schemas; else f
 *   number      name     the number of the relation that a name means, which may have its schema
 *   name        number   the relation's name, with its schema where it needs that
 * definition  number   the query of a view with all schemas, where that in public is not found without
 * </pre>
 *
 * NULL where there is nothing of the number or name. Safe on any thread.
 */
final class PathFunction implements ScalarFunction {
    static final String NAME = "by_path";

    private final Frontend frontend = new Frontend();
    private final DatabaseCatalog catalog;
    private final Oids oids;

    PathFunction(DatabaseCatalog catalog, Oids oids) {
        this.catalog = catalog;
        this.oids = oids;
    }

    @Override
    public @Nullable Object call(Object[] values) {
        if (values[0] == null || values[1] == null || values[2] == null) {
            return null;
        }
        List<String> schemas = names((String) values[1]);
        String argument = (String) values[2];
        if (values[0].equals("number")) {
            return number(schemas, names(argument)).map(String::valueOf).orElse(null);
        }
        Optional<String> qualified = argument.matches("[0-9]{1,9}")
                ? oids.name(Integer.parseInt(argument)).filter(name -> name.indexOf('.') > 0)
                : Optional.empty();
        if (qualified.isEmpty()) {
            return null;
        }
        if (values[0].equals("definition")) {
            return schemas.contains(RelationNames.PUBLIC)
                    ? null
                    : definition(qualified.get()).orElse(null);
        }
        String schema = RelationNames.prefix(qualified.get());
        String name = qualified.get().substring(schema.length() + 1);
        boolean isRelation = isRelation(qualified.get());
        boolean isVisible = isRelation ? first(schemas, name).equals(Optional.of(schema)) : schemas.contains(schema);
        if (values[0].equals("visible")) {
            return isVisible ? "t" : "f";
        } else if (!isRelation) {
            return null;
        }
        return isVisible ? Identifiers.quote(name) : Identifiers.quote(schema) + "." + Identifiers.quote(name);
    }

    /** The query of what has one, with a schema before each name. */
    private Optional<String> definition(String qualified) {
        Optional<String> query =
                catalog.object(RelationNames.inCatalog(qualified)).map(CatalogObject::queryText);
        try {
            return query.map(text -> frontend.qualified(frontend.parse(text).get(0), catalog) + ";");
        } catch (MillraceException e) {
            return Optional.empty(); // it asks who asks, or is no query
        }
    }

    private static List<String> names(String text) {
        List<String> names = new ArrayList<>();
        for (Lexeme lexeme : Lexer.tokens(text)) {
            if (lexeme.isName()) {
                names.add(lexeme.text());
            }
        }
        return names;
    }

    private Optional<Integer> number(List<String> schemas, List<String> parts) {
        if (parts.isEmpty() || parts.size() > 3) {
            return Optional.empty();
        }
        String name = parts.get(parts.size() - 1);
        Optional<String> schema = parts.size() > 1 ? Optional.of(parts.get(parts.size() - 2)) : first(schemas, name);
        return schema.map(of -> of + "." + name).filter(this::isRelation).map(oids::of);
    }

    /** The first of some schemas that has a relation of a name. */
    private Optional<String> first(List<String> schemas, String name) {
        return schemas.stream()
                .filter(schema -> isRelation(schema + "." + name))
                .findFirst();
    }

    /** @param qualified with its schema, also where that is {@code public} */
    private boolean isRelation(String qualified) {
        String name = RelationNames.inCatalog(qualified);
        return catalog.object(name).isPresent() && !RelationNames.isSchema(name)
                || catalog.systemRelation(name).isPresent();
    }
}
