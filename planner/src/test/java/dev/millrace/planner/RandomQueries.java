package dev.millrace.planner;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** Random queries over {@link Relations}, a few levels deep, of the shapes that rewrites look for and their near misses. */
final class RandomQueries {
    /** A query's columns by name and type, and what follows FROM to read it. */
    private record Rows(String from, List<Column> columns) {}

    private record Column(String name, String type) {}

    private static final Rows BID =
            new Rows("bid", columns("auction bigint, bidder bigint, price bigint, channel text, datetime timestamp"));
    private static final Rows READING =
            new Rows("reading", columns("device text, ts timestamptz, temp double, humidity double"));
    private static final Rows DEVICE = new Rows("device", columns("device text, site text, limit_c double"));

    private final Random random;
    private int names;

    RandomQueries(Random random) {
        this.random = random;
    }

    String next() {
        return query(2).text();
    }

    private record Query(String text, List<Column> columns) {}

    private static List<Column> columns(String list) {
        List<Column> columns = new ArrayList<>();
        for (String column : list.split(", ")) {
            columns.add(new Column(column.split(" ")[0], column.split(" ")[1]));
        }
        return columns;
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    @SafeVarargs
    private final <T> T one(T... of) {
        return of[random.nextInt(of.length)];
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private String name() {
        return "c" + ++names;
    }

    private Query query(int depth) {
        return switch (random.nextInt(8)) {
            case 0 -> project(rows(depth));
            case 1, 2 -> group(rows(depth));
            case 3, 4 -> windows();
            case 5 -> join(depth);
            case 6 -> ranks(rows(depth));
            default -> chance(50) ? ownExtreme() : union(depth);
        };
    }

    private Rows rows(int depth) {
        if (depth == 0 || chance(40)) {
            return one(BID, READING, DEVICE);
        }
        Query query = query(depth - 1);
        return new Rows("(" + query.text() + ") AS t" + ++names, query.columns());
    }

    private static List<Column> of(List<Column> columns, String... types) {
        return columns.stream()
                .filter(column -> List.of(types).contains(column.type()))
                .toList();
    }

    // ---- conditions ------------------------------------------------------------------------------------------------

    private String constant(String type) {
        return switch (type) {
            case "bigint" -> one("0", "1", "2", "3", "5000");
            case "double" -> one("25", "50", "80");
            case "text" -> one("'roof'", "'apple'", "'test'");
            case "timestamp" -> one("TIMESTAMP '1970-01-01 00:00:10'", "TIMESTAMP '1970-01-01 00:00:20'");
            default -> one("TIMESTAMPTZ '1970-01-01 00:00:10Z'", "TIMESTAMPTZ '1970-01-01 00:00:20Z'");
        };
    }

    private String condition(List<Column> columns) {
        Column column = one(columns);
        List<Column> same = of(columns, column.type());
        String other = chance(70) ? constant(column.type()) : one(same).name();
        String test = chance(10)
                ? column.name() + one(" IS NULL", " IS NOT NULL")
                : column.name() + " " + one("=", "<>", "<", "<=", ">", ">=") + " " + other;
        return chance(20) ? "(" + test + one(" OR ", " AND ") + condition(columns) + ")" : test;
    }

    private String where(List<Column> columns) {
        if (chance(40)) {
            return "";
        }
        return " WHERE " + condition(columns) + (chance(40) ? " AND " + condition(columns) : "");
    }

    // ---- shapes ----------------------------------------------------------------------------------------------------

    private Query project(Rows rows) {
        List<Column> output = new ArrayList<>();
        List<String> items = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            Column column = one(rows.columns());
            String name = name();
            boolean computed = column.type().equals("bigint") && chance(30);
            items.add((computed ? column.name() + " + 1" : column.name()) + " AS " + name);
            output.add(new Column(name, column.type()));
        }
        String distinct = chance(20) ? "DISTINCT " : "";
        return new Query(
                "SELECT " + distinct + String.join(", ", items) + " FROM " + rows.from() + where(rows.columns()),
                output);
    }

    /** Items of aggregate calls over columns, {@code count(*)} where there are no numbers. */
    private List<String> calls(List<Column> columns, List<Column> output) {
        List<String> items = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            List<Column> numbers = of(columns, "bigint", "double");
            String name = name();
            String filter = chance(20) ? " FILTER (WHERE " + condition(columns) + ")" : "";
            if (numbers.isEmpty() || chance(35)) {
                String argument = chance(50) ? "*" : "DISTINCT " + one(columns).name();
                items.add("count(" + argument + ")" + filter + " AS " + name);
                output.add(new Column(name, "bigint"));
            } else {
                Column column = one(numbers);
                items.add(one("min", "max") + "(" + column.name() + ")" + filter + " AS " + name);
                output.add(new Column(name, column.type()));
            }
        }
        return items;
    }

    private Query group(Rows rows) {
        List<Column> output = new ArrayList<>();
        List<String> items = new ArrayList<>();
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < random.nextInt(3); i++) {
            Column key = one(rows.columns());
            String name = name();
            keys.add(key.name());
            items.add(key.name() + " AS " + name);
            output.add(new Column(name, key.type()));
        }
        items.addAll(calls(rows.columns(), output));
        String by = keys.isEmpty() ? "" : " GROUP BY " + String.join(", ", keys);
        String having = chance(20) ? " HAVING count(*) > 1" : "";
        return new Query(
                "SELECT " + String.join(", ", items) + " FROM " + rows.from() + where(rows.columns()) + by + having,
                output);
    }

    private String window(String stream, String time, String partition) {
        return switch (random.nextInt(partition.isEmpty() ? 3 : 4)) {
            case 0 -> "TUMBLE(TABLE " + stream + ", DESCRIPTOR(" + time + "), INTERVAL '10 seconds')";
            case 1 ->
                "HOP(TABLE " + stream + ", DESCRIPTOR(" + time + "), INTERVAL '4 seconds', INTERVAL '10 seconds')";
            case 2 ->
                "CUMULATE(TABLE " + stream + ", DESCRIPTOR(" + time + "), INTERVAL '5 seconds', INTERVAL '20 seconds')";
            default ->
                "SESSION(TABLE " + stream + " PARTITION BY " + partition + ", DESCRIPTOR(" + time
                        + "), INTERVAL '4 seconds')";
        };
    }

    private Query windows() {
        Rows stream = one(BID, READING);
        Column time = one(of(stream.columns(), "timestamp", "timestamptz"));
        Column key = one(of(stream.columns(), "bigint", "text"));
        String window = window(stream.from(), time.name(), key.name());
        List<String> bounds =
                one(List.of("window_start", "window_end"), List.of("window_end"), List.of("window_start"), List.of());
        List<String> keys = new ArrayList<>(bounds);
        if (window.startsWith("SESSION") || chance(60)) {
            keys.add(key.name());
        }
        List<Column> output = new ArrayList<>();
        List<String> items = new ArrayList<>();
        for (String item : keys) {
            String name = name();
            items.add(item + " AS " + name);
            output.add(new Column(name, item.equals(key.name()) ? key.type() : time.type()));
        }
        items.addAll(calls(stream.columns(), output));
        List<Column> all = new ArrayList<>(stream.columns());
        all.add(new Column("window_start", time.type()));
        all.add(new Column("window_end", time.type()));
        String by = keys.isEmpty() ? "" : " GROUP BY " + String.join(", ", keys);
        return new Query("SELECT " + String.join(", ", items) + " FROM " + window + where(all) + by, output);
    }

    private Query join(int depth) {
        Rows left = rows(depth);
        Rows right = rows(depth);
        String a = "a" + ++names;
        String b = "b" + ++names;
        List<Column> ofLeft = qualified(left.columns(), a);
        List<Column> ofRight = qualified(right.columns(), b);
        List<Column> both = new ArrayList<>(ofLeft);
        both.addAll(ofRight);
        Column key = one(ofLeft);
        List<Column> partners = of(ofRight, key.type());
        String on = partners.isEmpty()
                ? condition(both)
                : key.name() + " = " + one(partners).name();
        String more = chance(40) ? " AND " + condition(both) : "";
        String kind = one("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");
        Column first = one(ofLeft);
        Column second = one(ofRight);
        String x = name();
        String y = name();
        return new Query(
                "SELECT " + first.name() + " AS " + x + ", " + second.name() + " AS " + y + " FROM " + aliased(left, a)
                        + " " + kind + " " + aliased(right, b) + " ON " + on + more + where(both),
                List.of(new Column(x, first.type()), new Column(y, second.type())));
    }

    private static String aliased(Rows rows, String alias) {
        return rows.from().replaceAll(" AS t\\d+$", "") + " AS " + alias;
    }

    private static List<Column> qualified(List<Column> columns, String alias) {
        return columns.stream()
                .map(column -> new Column(alias + "." + column.name(), column.type()))
                .toList();
    }

    private Query ranks(Rows rows) {
        List<Column> all = new ArrayList<>(rows.columns());
        all.add(new Column("place", "bigint"));
        String partition = chance(70) ? "PARTITION BY " + one(rows.columns()).name() + " " : "";
        String inner = "SELECT *, " + one("RANK", "DENSE_RANK", "ROW_NUMBER") + "() OVER (" + partition + "ORDER BY "
                + one(rows.columns()).name() + one("", " DESC") + ") AS place FROM " + rows.from();
        String columns = rows.columns().stream().map(Column::name).distinct().collect(Collectors.joining(", "));
        boolean emitsRank = chance(50);
        String more = chance(30) ? " AND " + condition(all) : "";
        return new Query(
                "SELECT " + columns + (emitsRank ? ", place" : "") + " FROM (" + inner + ") AS r" + ++names
                        + " WHERE place " + one("<= 2", "= 1", "< 4 AND place > 1") + more,
                emitsRank ? all : rows.columns());
    }

    private Query union(int depth) {
        Query one = query(depth == 0 ? 0 : depth - 1);
        String operation = one(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ");
        String columns = one.columns().stream().map(Column::name).collect(Collectors.joining(", "));
        return new Query(
                "SELECT " + columns + " FROM (" + one.text() + ") AS u" + ++names + where(one.columns()) + operation
                        + "SELECT " + columns + " FROM (" + one.text() + ") AS u" + ++names + where(one.columns()),
                one.columns());
    }

    /** Rows joined with an extreme of their windows, with every part now and then not quite right. */
    private Query ownExtreme() {
        boolean hop = chance(30);
        String window = hop
                ? "HOP(TABLE bid, DESCRIPTOR(datetime), INTERVAL '5 seconds', INTERVAL '10 seconds')"
                : "TUMBLE(TABLE bid, DESCRIPTOR(datetime), INTERVAL '10 seconds')";
        boolean max = chance(60);
        boolean keyed = chance(30);
        String filter = chance(30) ? " WHERE bidder > 1" : "";
        String extreme = "SELECT " + (max ? "max" : "min") + "(price) AS m, window_start AS s, window_end AS e"
                + (keyed ? ", channel AS k" : "") + " FROM " + window + filter
                + " GROUP BY window_start, window_end" + (keyed ? ", channel" : "");
        String value = one(" = ", " = ", max ? " >= " : " <= ");
        boolean assigned = chance(30);
        String within = assigned
                ? one("b.window_end = x.e", "b.window_start = x.s", "b.window_start = x.s AND b.window_end = x.e")
                : one("b.datetime >= x.s", "b.datetime >= x.e - INTERVAL '10 seconds'", "b.datetime > x.s") + " AND "
                        + one("b.datetime < x.e", "b.datetime <= x.e", "x.e > b.datetime");
        String key = keyed && chance(80) ? " AND b.channel = x.k" : "";
        String same = chance(50) ? filter.replace("bidder", "b.bidder") : "";
        return new Query(
                "SELECT b.auction, b.price, x.e FROM " + (assigned ? window : "bid") + " AS b JOIN (" + extreme
                        + ") AS x ON b.price" + value + "x.m AND " + within + key + same,
                columns("auction bigint, price bigint, e timestamp"));
    }
}
