package dev.millrace.server.differential;

import java.util.ArrayList;
import java.util.List;

/**
 * Random queries full of sub-queries that read rows around them: EXISTS, IN, ANY, ALL, aggregates and LATERAL, nested, in
 * WHERE and in the output, above outer joins of the tables {@link #TABLES}, whose columns are {@code a}, {@code b} and
 * {@code c}. One text for us and for the oracle.
 */
final class RandomCorrelated {
    static final List<String> TABLES = List.of("t1", "t2", "t3");

    private final Chance chance;
    private int aliases;

    RandomCorrelated(Chance chance) {
        this.chance = chance;
    }

    /** Something that stands in FROM, and its columns by their qualified names. */
    private record From(String sql, List<String> columns) {}

    /** The columns that an expression can read: query by query, the innermost last. */
    private record Scopes(List<List<String>> queries) {
        static final Scopes NONE = new Scopes(List.of());

        Scopes with(List<String> columns) {
            List<List<String>> all = new ArrayList<>(queries);
            all.add(columns);
            return new Scopes(all);
        }
    }

    String next() {
        aliases = 0;
        From from = joined(Scopes.NONE, 2, chance.between(1, 2));
        Scopes scopes = Scopes.NONE.with(from.columns());
        int depth = chance.between(1, 2);
        String where = chance.percent(85) ? " WHERE " + condition(scopes, depth) : "";
        return chance.percent(15)
                ? "SELECT " + chance.of(from.columns()) + " AS o1, count(*) AS o2 FROM " + from.sql() + where
                        + " GROUP BY 1"
                : "SELECT " + output(scopes, depth) + " AS o1, " + output(scopes, depth) + " AS o2, " + value(scopes)
                        + " AS o3 FROM " + from.sql() + where;
    }

    /** Inserts some rows in one of the tables, few values of which differ. */
    static String insert(String table, Chance chance) {
        StringBuilder rows = new StringBuilder();
        for (int row = chance.between(1, 4); row > 0; row--) {
            String first = table.equals("t1") ? Integer.toString(chance.below(3)) : value(chance);
            rows.append("(" + first + ", " + value(chance) + ", " + value(chance) + ")")
                    .append(row == 1 ? "" : ", ");
        }
        return "INSERT INTO " + table + " VALUES " + rows;
    }

    /** A value, or NULL. */
    static String value(Chance chance) {
        return chance.percent(30) ? "NULL" : Integer.toString(chance.below(4));
    }

    // ---- FROM ------------------------------------------------------------------------------------------------------

    private From joined(Scopes outer, int depth, int joins) {
        From from = depth > 0 && chance.percent(20) ? derived(outer, depth, chance.percent(30)) : table();
        for (int join = 0; join < joins; join++) {
            from = depth > 0 && chance.percent(25) ? withLateral(from, outer, depth) : joined(from, depth);
        }
        return from;
    }

    private From table() {
        String alias = "x" + aliases++;
        return new From(chance.of(TABLES) + " AS " + alias, List.of(alias + ".a", alias + ".b", alias + ".c"));
    }

    private From withLateral(From left, Scopes outer, int depth) {
        From right = derived(outer.with(left.columns()), depth, true);
        List<String> columns = both(left, right);
        String on = chance.percent(60) ? "true" : comparison(Scopes.NONE.with(columns));
        return new From(left.sql() + chance.of(" LEFT JOIN ", " JOIN ") + right.sql() + " ON " + on, columns);
    }

    private From joined(From left, int depth) {
        From right = depth > 0 && chance.percent(20) ? derived(Scopes.NONE, depth, false) : table();
        String type = chance.of("LEFT", "LEFT", "RIGHT", "FULL", "FULL", "INNER");
        String on = chance.of(left.columns()) + " = " + chance.of(right.columns());
        if (chance.percent(30)) {
            String operator = type.equals("FULL") ? " = " : chance.of(" < ", " <> ", " = ");
            on += " AND " + chance.of(left.columns()) + operator + chance.of(right.columns());
        }
        return new From(left.sql() + " " + type + " JOIN " + right.sql() + " ON " + on, both(left, right));
    }

    private static List<String> both(From left, From right) {
        List<String> columns = new ArrayList<>(left.columns());
        columns.addAll(right.columns());
        return columns;
    }

    /** @param lateral whether it reads {@code outer} */
    private From derived(Scopes outer, int depth, boolean lateral) {
        String alias = "x" + aliases++;
        Scopes read = lateral ? outer : Scopes.NONE;
        String query = pair(read, depth);
        if (depth > 1 && chance.percent(10)) {
            query += chance.of(" UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT ") + pair(read, depth - 1);
        }
        return new From((lateral ? "LATERAL (" : "(") + query + ") AS " + alias, List.of(alias + ".p", alias + ".q"));
    }

    /** A query of the columns {@code p} and {@code q}. */
    private String pair(Scopes outer, int depth) {
        From from = joined(outer, depth - 1, chance.percent(45) && depth > 1 ? 1 : 0);
        Scopes scopes = outer.with(from.columns());
        String rows = " FROM " + from.sql() + (chance.percent(70) ? " WHERE " + condition(scopes, depth - 1) : "");
        String column = chance.of(from.columns());
        return switch (chance.below(6)) {
            case 0 -> "SELECT " + column + " AS p, count(*) AS q" + rows + " GROUP BY 1";
            case 1 -> "SELECT " + aggregate(column) + " AS p, count(*) AS q" + rows;
            case 2 -> "SELECT DISTINCT " + value(scopes) + " AS p, " + value(scopes) + " AS q" + rows;
            case 3 ->
                "SELECT p, q FROM (SELECT " + value(scopes) + " AS p, " + number(scopes, depth - 1) + " AS q" + rows
                        + ") AS y ORDER BY p, q LIMIT " + chance.between(1, 2);
            default -> "SELECT " + number(scopes, depth - 1) + " AS p, " + value(scopes) + " AS q" + rows;
        };
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    /** A column, of a query further out now and then. */
    private String column(Scopes scopes) {
        int query = scopes.queries().size() - 1;
        while (query > 0 && chance.percent(40)) {
            query--;
        }
        return chance.of(scopes.queries().get(query));
    }

    private String value(Scopes scopes) {
        return switch (chance.below(8)) {
            case 0 -> column(scopes) + " + " + chance.of("1", "0", column(scopes));
            case 1 -> "coalesce(" + column(scopes) + ", " + chance.below(3) + ")";
            case 2 -> Integer.toString(chance.below(4));
            default -> column(scopes);
        };
    }

    /** A value, now and then whether something is so: of a row of an inner query, which reads those around, or these alone. */
    private String number(Scopes scopes, int depth) {
        if (depth <= 0 || chance.percent(60)) {
            return value(scopes);
        }
        int queries = scopes.queries().size();
        if (queries == 1 || chance.percent(30)) {
            return "CAST((" + membership(scopes, depth) + ") AS INT)";
        }
        From from = table();
        return "CAST((" + chance.of(scopes.queries().get(queries - 1))
                + chance.of(" IN", " NOT IN", " < ANY", " <> ALL")
                + " (SELECT " + chance.of(from.columns()) + " FROM " + from.sql() + " WHERE "
                + chance.of(from.columns()) + chance.of(" <= ", " = ", " <> ")
                + chance.of(scopes.queries().get(chance.below(queries - 1))) + ")) AS INT)";
    }

    private String aggregate(String column) {
        return chance.of("max", "min", "sum", "count") + "(" + column + ")";
    }

    private String comparison(Scopes scopes) {
        String a = column(scopes);
        String b = column(scopes);
        return switch (chance.below(8)) {
            case 0 -> a + " IS NULL";
            case 1 -> a + " IS NOT DISTINCT FROM " + b;
            case 2 -> a + " <> " + b;
            case 3 -> a + " < " + b;
            case 4 -> "coalesce(" + a + ", 1) = " + b;
            default -> a + " = " + b;
        };
    }

    private String condition(Scopes scopes, int depth) {
        String one = test(scopes, depth);
        if (chance.percent(65)) {
            return one;
        }
        String two = test(scopes, depth);
        return chance.percent(60) ? one + " AND " + two : "(" + one + " OR " + two + ")";
    }

    private String test(Scopes scopes, int depth) {
        if (depth <= 0) {
            return comparison(scopes);
        }
        return switch (chance.below(9)) {
            case 0, 1 -> chance.of("", "NOT ") + exists(scopes, depth);
            case 2 -> membership(scopes, depth);
            case 3 ->
                "(" + membership(scopes, depth) + ") IS " + chance.of("NULL", "NOT NULL", "TRUE", "NOT TRUE", "FALSE");
            case 4 -> value(scopes) + chance.of(" = ", " < ", " <> ") + single(scopes, depth);
            case 5 -> single(scopes, depth) + chance.of(" IS NULL", " IS NOT NULL");
            default -> comparison(scopes);
        };
    }

    private String output(Scopes scopes, int depth) {
        return switch (chance.below(7)) {
            case 0 -> single(scopes, depth);
            case 1 -> exists(scopes, depth);
            case 2 -> membership(scopes, depth);
            default -> value(scopes);
        };
    }

    // ---- sub-queries -----------------------------------------------------------------------------------------------

    private String exists(Scopes outer, int depth) {
        return "EXISTS (SELECT 1" + rows(inner(depth), outer, depth) + ")";
    }

    /** Of one row. */
    private String single(Scopes outer, int depth) {
        From from = inner(depth);
        String more = chance.percent(25) ? " + " + column(outer) : "";
        String of = chance.of(from.columns()); // or the aggregate would be of a query around
        if (depth > 1 && chance.percent(25)) {
            of += " + " + number(outer.with(from.columns()), depth - 1);
        }
        return "(SELECT " + aggregate(of) + more + rows(from, outer, depth) + ")";
    }

    private String membership(Scopes outer, int depth) {
        String test = chance.of(
                "IN", "NOT IN", "= ANY", "<> ANY", "< ANY", "> ANY", "= ALL", "<> ALL", "<= ALL", ">= ALL", "< ALL");
        From from = inner(depth);
        String rows = rows(from, outer, depth);
        String sought = chance.percent(20) ? Integer.toString(chance.below(4)) : value(outer);
        if (chance.percent(85)) {
            return sought + " " + test + " (SELECT " + value(outer.with(from.columns())) + rows + ")";
        }
        String key = chance.of(from.columns());
        String having = chance.percent(50) ? " HAVING count(*) > " + chance.below(2) : "";
        String result = chance.of(key, "count(*)", "max(" + chance.of(from.columns()) + ")");
        return sought + " " + test + " (SELECT " + result + rows + " GROUP BY " + key + having + ")";
    }

    private From inner(int depth) {
        return joined(Scopes.NONE, depth - 1, chance.percent(45) && depth > 1 ? 1 : 0);
    }

    private String rows(From from, Scopes outer, int depth) {
        boolean all = chance.percent(15);
        return " FROM " + from.sql() + (all ? "" : " WHERE " + condition(outer.with(from.columns()), depth - 1));
    }
}
