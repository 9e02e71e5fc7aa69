package dev.millrace.server.pgcatalog;

import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** PostgreSQL's functions over its catalog, as the expressions they are short for. Safe on any thread. */
final class PgFunctions {
    private static final Map<String, UserFunction> FUNCTIONS = read();

    private PgFunctions() {}

    static Optional<UserFunction> function(String name) {
        return Optional.ofNullable(FUNCTIONS.get(name));
    }

    static Set<String> names() {
        return FUNCTIONS.keySet();
    }

    private static Map<String, UserFunction> read() {
        Map<String, String> bodies = new HashMap<>();
        try (InputStream in = PgFunctions.class.getResourceAsStream("functions.txt")) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> {
                        int blank = line.indexOf(' ');
                        bodies.put(line.substring(0, blank), line.substring(blank + 1));
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        bodies.put("format_type", formatType());
        Map<String, UserFunction> functions = new HashMap<>();
        bodies.forEach((name, body) -> functions.put(name, UserFunction.expression(name, body)));
        functions.put("pg_options_to_table", optionsToTable());
        return Map.copyOf(functions);
    }

    /** Options {@code name=value} as rows. */
    private static UserFunction optionsToTable() {
        DataType row = DataType.row(
                List.of(new Field("option_name", DataType.TEXT, true), new Field("option_value", DataType.TEXT, true)));
        return new UserFunction(
                "pg_options_to_table",
                UserFunction.Kind.SQL_TABLE,
                List.of(new Field("options", DataType.array(DataType.TEXT), true)),
                row,
                "SELECT split_part(pgo.o, '=', 1), substring(pgo.o, strpos(pgo.o, '=') + 1) FROM unnest(options) AS pgo(o)");
    }

    /** The type's name with its length, digits or fields, of an array those of its elements. */
    private static String formatType() {
        StringBuilder text = new StringBuilder("CASE ");
        for (PgType type : PgType.values()) {
            text.append("WHEN arg1 = ").append(type.oid()).append(" THEN ").append(name(type));
            if (type.arrayOid() != 0) {
                text.append("WHEN arg1 = ")
                        .append(type.arrayOid())
                        .append(" THEN ")
                        .append(name(type))
                        .append("|| '[]' ");
            }
        }
        return text.append("WHEN arg1 IS NOT NULL THEN '???' END").toString();
    }

    private static String name(PgType type) {
        String name = "'" + type.sqlName() + "' ";
        return switch (type) {
            case VARCHAR, BPCHAR -> name + "|| CASE WHEN arg2 > 4 THEN '(' || (arg2 - 4) || ')' ELSE '' END ";
            case NUMERIC ->
                name
                        + "|| CASE WHEN arg2 > 4 THEN '(' || ((arg2 - 4) / 65536) || ',' || (((arg2 - 4) % 65536 + 1024) % 2048 - 1024) || ')'"
                        + " ELSE '' END ";
            case TIME, TIMESTAMP, TIMESTAMPTZ -> {
                int word = type.sqlName().indexOf(' ');
                yield "'" + type.sqlName().substring(0, word)
                        + "' || CASE WHEN arg2 >= 0 THEN '(' || arg2 || ')' ELSE ''" + " END || '"
                        + type.sqlName().substring(word) + "' ";
            }
            case INTERVAL ->
                name + "|| CASE arg2 / 65536 " + intervalFields() + "ELSE '' END"
                        + " || CASE WHEN arg2 >= 0 AND arg2 % 65536 <> 65535 THEN '(' || (arg2 % 65536) || ')' ELSE '' END ";
            default -> name;
        };
    }

    /** Which fields an interval has, where it is not all. */
    private static String intervalFields() {
        StringBuilder text = new StringBuilder();
        for (int first = 0; first < IntervalFields.NAMES.size(); first++) {
            for (int last = first; last < IntervalFields.NAMES.size(); last++) {
                text.append("WHEN ")
                        .append(PgType.intervalModifier(first, last) >> 16)
                        .append(" THEN ' ")
                        .append(IntervalFields.NAMES.get(first))
                        .append(first == last ? "" : " to " + IntervalFields.NAMES.get(last))
                        .append("' ");
            }
        }
        return text.toString();
    }
}
