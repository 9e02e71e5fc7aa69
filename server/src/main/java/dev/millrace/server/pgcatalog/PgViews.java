package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Relations whose rows depend on who reads them: queries over others, in {@code views.txt}; a name and its query a line. Their
 * columns are those of {@code relations.txt}, in its order.
 */
final class PgViews {
    private PgViews() {}

    static Map<String, UserFunction> read(List<SystemRelation> relations) {
        Map<String, SystemRelation> byName =
                relations.stream().collect(Collectors.toMap(SystemRelation::name, Function.identity()));
        Map<String, UserFunction> views = new HashMap<>();
        try (InputStream in = PgViews.class.getResourceAsStream("views.txt")) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> {
                        int blank = line.indexOf(' ');
                        String name = line.substring(0, blank);
                        views.put(name, view(Objects.requireNonNull(byName.get(name)), line.substring(blank + 1)));
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Map.copyOf(views);
    }

    /** A function that gives all rows of a relation. */
    static UserFunction function(String name, String of, List<SystemRelation> relations) {
        SystemRelation relation = relations.stream()
                .filter(one -> one.name().equals(of))
                .findFirst()
                .orElseThrow();
        DataType row = DataType.row(RelationList.listed(relation.schema()));
        return new UserFunction(name, UserFunction.Kind.SQL_TABLE, List.of(), row, "SELECT * FROM " + of);
    }

    private static UserFunction view(SystemRelation relation, String query) {
        List<Field> columns = RelationList.listed(relation.schema());
        String name = relation.name().substring(relation.name().indexOf('.') + 1);
        return new UserFunction(name, UserFunction.Kind.SQL_TABLE, List.of(), DataType.row(columns), query);
    }
}
