package dev.millrace.cli.hostile;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Statements that would run for ever, or nearly, or want all memory, each in one place: joins, kernels, expressions over one
 * row, the parser, the planner, sorts, windows, arrays, texts, patterns, JSON. They read {@code h}, of {@link #ROWS} rows.
 */
final class HostileStatements {
    static final int ROWS = 20_000;

    static final List<String> SETUP = List.of(
            "CREATE TABLE h (id BIGINT PRIMARY KEY, k BIGINT, v DOUBLE PRECISION, s TEXT, ts TIMESTAMP)",
            "INSERT INTO h SELECT n, n % 1000, n * 0.37, 'text ' || n % 777,"
                    + " TIMESTAMP '2026-01-01' + n * INTERVAL '1 second' FROM generate_series(1, " + ROWS
                    + ") AS t(n)");

    /** A statement and what it is an example of. */
    record Hostile(String kind, String sql) {}

    private record Kind(String name, Function<SplittableRandom, String> text) {}

    private static final List<Kind> KINDS = List.of(
            fixed("cross join", "SELECT count(*) FROM h a, h b, h c WHERE a.v + b.v = c.v + 0.1"),
            fixed("inequality join", "SELECT count(*) FROM h a JOIN h b ON a.v < b.v JOIN h c ON b.v < c.v"),
            fixed("outer join of pairs", "SELECT count(*) FROM h a FULL JOIN h b ON a.v + b.v = 0.123"),
            fixed("one key for all", "SELECT count(*), sum(a.v * b.v) FROM h a JOIN h b ON a.id * 0 = b.id * 0"),
            fixed(
                    "semi join of pairs",
                    "SELECT count(*) FROM h a WHERE NOT EXISTS (SELECT FROM h b WHERE a.v + b.v = 0.1)"),
            fixed(
                    "lateral",
                    "SELECT count(*) FROM h a, LATERAL (SELECT b.v FROM h b WHERE b.v > a.v ORDER BY b.v LIMIT 3) x"),
            fixed("series", "SELECT count(*) FROM generate_series(1, 1000000000000) AS t(n)"),
            fixed(
                    "series of each row",
                    "SELECT count(*) FROM h, generate_series(1, 100000000) AS t(n) WHERE n % 7 = id"),
            fixed("series in the list", "SELECT generate_series(1, 100000000) FROM h"),
            fixed("rows without end", "SELECT a.id, b.s FROM h a, h b, h c"),
            fixed("sort", "SELECT a.id FROM h a, h b WHERE b.id < 400 ORDER BY sin(a.v * b.v), a.s"),
            fixed("top", "SELECT a.id FROM h a, h b ORDER BY sin(a.v * b.v) LIMIT 1000"),
            fixed(
                    "window frames",
                    "SELECT sum(x) FROM (SELECT max(v) OVER (ORDER BY v ROWS BETWEEN 10000 PRECEDING AND 10000"
                            + " FOLLOWING) AS x FROM h) q"),
            fixed(
                    "window of pairs",
                    "SELECT max(r) FROM (SELECT rank() OVER (PARTITION BY a.k ORDER BY a.v * b.v) AS r FROM h a, h b"
                            + " WHERE b.id < 500) q"),
            fixed("distinct", "SELECT count(DISTINCT a.v * b.v) FROM h a, h b"),
            fixed("groups", "SELECT a.v * b.v, count(*) FROM h a, h b GROUP BY 1 ORDER BY 2 LIMIT 1"),
            fixed(
                    "cube",
                    "SELECT count(*) FROM (SELECT k, count(*) FROM h GROUP BY CUBE (id, k, v, s, ts, id + 1, k + 1, v + 1)) q"),
            fixed("big array", "SELECT cardinality(array_agg(a.id + b.id)) FROM h a, h b"),
            fixed("big text", "SELECT length(string_agg(a.s || b.s, ',')) FROM h a, h b"),
            fixed("percentiles", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.v * b.v) FROM h a, h b"),
            fixed("one row's text", "SELECT count(*) FROM h WHERE length(repeat(s, 100000)) = id"),
            fixed(
                    "one row's search",
                    "SELECT sum(position(repeat('a', 50000) || 'b' IN repeat('a', 5000000) || s)) FROM h"),
            fixed("replace", "SELECT sum(length(replace(repeat('ab', 3000000) || s, 'a', repeat('x', 20)))) FROM h"),
            fixed("like", "SELECT count(*) FROM h WHERE repeat('a', 20000) || s LIKE '%a%a%a%a%a%a%a%a%b%a%a%z'"),
            fixed("regular expression", "SELECT repeat('a', 40) || 'b' ~ '(a+)+$'"),
            fixed(
                    "expression with references",
                    "SELECT count(*) FROM h WHERE repeat('a', 3000) || s ~ '(a*)*(a*)*\\1\\2b'"),
            fixed(
                    "replaced expression",
                    "SELECT sum(length(regexp_replace(repeat('ab', 100000) || s, '(a|ab|b)+?', 'x', 'g'))) FROM h"),
            fixed("split", "SELECT count(*) FROM h, regexp_split_to_table(repeat('a,b', 1000000), ',') AS t(x)"),
            fixed("numbers", "SELECT sum(power(v::numeric(30, 10), 30)) FROM h a"),
            fixed(
                    "json",
                    "SELECT count(*) FROM h a, h b WHERE ('{\"a\": [1, 2, 3, {\"b\": ' || b.id || '}]}')::jsonb -> 'a' -> 3 ->> 'b'"
                            + " = a.s"),
            fixed(
                    "deep json",
                    "SELECT count(*) FROM h WHERE (repeat('[', 100000 + id::int) || repeat(']', 100000 + id::int))::jsonb"
                            + " IS NULL"),
            fixed(
                    "row pattern",
                    "SELECT count(*) FROM h MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(B.id) AS m"
                            + " PATTERN ((A | C | A C)+ B) DEFINE A AS v > 0, C AS v > 0, B AS v < 0)"),
            fixed(
                    "dense pattern",
                    "SELECT count(*) FROM h MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(B.id) AS m"
                            + " AFTER MATCH SKIP TO NEXT ROW PATTERN (A+ D+ B) DEFINE A AS v > 0, D AS v > 1, B AS v < 0)"),
            drawn("deep parentheses", random -> "SELECT " + nested(2_000 + random.nextInt(20_000), "(", "1", ")")),
            drawn("many NOTs", random -> "SELECT " + nested(1_000 + random.nextInt(20_000), "NOT ", "true", "")),
            drawn(
                    "deep calls",
                    random -> "SELECT " + nested(500 + random.nextInt(3_000), "abs(", "k", ")") + " FROM h LIMIT 1"),
            drawn(
                    "deep queries",
                    random -> nested(50 + random.nextInt(400), "SELECT * FROM (", "SELECT 1 AS x", ") AS q")),
            drawn(
                    "deep cases",
                    random ->
                            "SELECT " + nested(100 + random.nextInt(1_000), "CASE WHEN k > 1 THEN ", "1", " ELSE 2 END")
                                    + " FROM h"),
            drawn(
                    "long sum",
                    random -> "SELECT sum(" + listed(1_000 + random.nextInt(20_000), " + ", i -> "k") + ") FROM h"),
            drawn(
                    "many ORs",
                    random -> "SELECT count(*) FROM h WHERE "
                            + listed(500 + random.nextInt(5_000), " OR ", i -> "(k = " + i + " AND v < " + i + ")")),
            drawn(
                    "long IN",
                    random -> "SELECT count(*) FROM h WHERE k IN ("
                            + listed(10_000 + random.nextInt(90_000), ", ", i -> "" + 3 * i) + ")"),
            drawn(
                    "many unions",
                    random -> listed(100 + random.nextInt(1_900), " UNION ALL ", i -> "SELECT " + i + " AS x FROM h")),
            drawn(
                    "many joins",
                    random -> "SELECT count(*) FROM "
                            + listed(5 + random.nextInt(40), ", ", i -> "h AS t" + i) + " WHERE "
                            + listed(5 + random.nextInt(4), " AND ", i -> "t0.id = t" + i % 5 + ".k")),
            drawn(
                    "doubling",
                    random -> "WITH a0 AS (SELECT k FROM h), "
                            + listed(
                                    8 + random.nextInt(12),
                                    ", ",
                                    i -> "a" + (i + 1) + " AS (SELECT x.k FROM a" + i + " x JOIN a" + i
                                            + " y ON x.k = y.k)")
                            + " SELECT count(*) FROM a8"),
            drawn(
                    "many sub-queries",
                    random -> "SELECT "
                            + listed(
                                    20 + random.nextInt(300),
                                    ", ",
                                    i -> "(SELECT max(v) FROM h WHERE k = o.k + " + i + ")")
                            + " FROM h AS o"),
            drawn(
                    "many columns",
                    random -> "SELECT "
                            + listed(
                                    500 + random.nextInt(1_000),
                                    ", ",
                                    i -> "sum(v * " + i + ") OVER (PARTITION BY k % " + (i + 2) + ")")
                            + " FROM h"),
            drawn(
                    "many values",
                    random -> "SELECT count(*) FROM (VALUES "
                            + listed(5_000 + random.nextInt(50_000), ", ", i -> "(" + i + ", 'a" + i + "' || random())")
                            + ") AS s(a, b)"),
            drawn(
                    "standing cross join",
                    random -> "SUBSCRIBE TO (SELECT a.id, b.id AS c FROM h a, h b WHERE a.v + b.v < 0)"),
            drawn(
                    "changing pairs",
                    random -> "UPDATE h SET v = v + (SELECT count(*) FROM h a, h b WHERE a.v * b.v = h.v)"),
            drawn(
                    "stacked laterals",
                    random -> "SELECT count(*) FROM h a0"
                            + listed(
                                    4 + random.nextInt(30),
                                    "",
                                    i -> ", LATERAL (SELECT b.v + a" + i + ".v AS v FROM h b WHERE b.v > a" + i
                                            + ".v) a" + (i + 1))),
            drawn("doubled unions", random -> {
                int times = 8 + random.nextInt(12);
                return "WITH w0 AS (SELECT k FROM h), "
                        + listed(
                                times,
                                ", ",
                                i -> "w" + (i + 1) + " AS (SELECT k FROM w" + i + " UNION ALL SELECT k + 1 FROM w" + i
                                        + (random.nextBoolean() ? " WHERE k > " + i : "") + ")")
                        + " SELECT count(*) FROM w" + times;
            }),
            drawn(
                    "deep casts",
                    random -> "SELECT " + nested(200 + random.nextInt(3_000), "((", "k", ")::text)::bigint")
                            + " FROM h LIMIT 1"),
            drawn(
                    "deep FROM",
                    random -> "SELECT count(*) FROM "
                            + nested(100 + random.nextInt(2_000), "(", "h a JOIN h b ON true", ")")),
            drawn(
                    "long concatenation",
                    random -> "SELECT sum(length("
                            + listed(500 + random.nextInt(5_000), " || ", i -> i % 2 == 0 ? "s" : "'" + i + "'")
                            + ")) FROM h"),
            drawn(
                    "long pattern",
                    random -> "SELECT count(*) FROM h WHERE s ~ '"
                            + listed(100 + random.nextInt(20_000), "|", i -> "te*xt (" + i + "|a{1,9})+") + "'"),
            drawn(
                    "many rows compared",
                    random -> "SELECT count(*) FROM h WHERE (id, k) IN ("
                            + listed(1_000 + random.nextInt(20_000), ", ", i -> "(" + i + ", " + i % 7 + ")") + ")"),
            drawn(
                    "many groups of columns",
                    random -> "SELECT count(*) FROM (SELECT 1 FROM h GROUP BY "
                            + listed(50 + random.nextInt(500), ", ", i -> "k + " + i) + ") q"),
            drawn(
                    "many joined",
                    random -> "SELECT count(*) FROM h a0"
                            + listed(
                                    10 + random.nextInt(60),
                                    "",
                                    i -> " LEFT JOIN h a" + (i + 1) + " ON a" + i + ".id = a" + (i + 1) + ".k")),
            drawn(
                    "many queries of one name",
                    random -> "WITH "
                            + listed(
                                    50 + random.nextInt(500),
                                    ", ",
                                    i -> "q" + i + " AS (SELECT "
                                            + (i == 0 ? "k FROM h" : "k + 1 AS k FROM q" + (i - 1)) + ")")
                            + " SELECT count(*) FROM q49"),
            drawn(
                    "long list",
                    random -> "SELECT ARRAY[" + listed(10_000 + random.nextInt(90_000), ", ", i -> "" + i) + "]"),
            drawn(
                    "deep path",
                    random -> "SELECT count(*) FROM h WHERE jsonb_path_exists(('{\"a\": ' || id || '}')::jsonb, '$"
                            + ".**".repeat(2 + random.nextInt(200)) + "')"),
            fixed("padding", "SELECT sum(length(lpad(s, 5000000, 'xy'))) FROM h"),
            fixed("translated", "SELECT sum(length(translate(repeat(s, 100000), 'abcxyz', 'zyxcba'))) FROM h"),
            fixed("reversed", "SELECT sum(length(reverse(upper(repeat(s, 100000))))) FROM h"),
            fixed("hashed", "SELECT count(DISTINCT md5(repeat(s, 100000))) FROM h"),
            fixed("lists of texts", "SELECT sum(cardinality(string_to_array(repeat('a,', 500000) || s, ','))) FROM h"),
            fixed("list of one row", "SELECT array_agg(n) FROM generate_series(1, 30000000) AS t(n)"),
            fixed("sorted list", "SELECT string_agg(a.s, ',' ORDER BY a.v * b.v) FROM h a, h b WHERE b.id < 200"),
            fixed(
                    "many long groups",
                    "SELECT count(*) FROM (SELECT a.id, b.id, array_agg(a.s) FROM h a, h b GROUP BY a.id, b.id) q"),
            fixed(
                    "insert without end",
                    "INSERT INTO h SELECT n + 1000000 + a.id * 1000000, 1, 1, 'x', NULL FROM"
                            + " generate_series(1, 1000000000) AS t(n), h a"),
            fixed("copy without end", "COPY (SELECT a.id, b.s FROM h a, h b, h c) TO STDOUT"));

    private HostileStatements() {}

    private static Kind fixed(String name, String sql) {
        return new Kind(name, random -> sql);
    }

    private static Kind drawn(String name, Function<SplittableRandom, String> text) {
        return new Kind(name, text);
    }

    private static String nested(int times, String before, String inner, String after) {
        return before.repeat(times) + inner + after.repeat(times);
    }

    private static String listed(int count, String separator, IntFunction<String> element) {
        return IntStream.range(0, count).mapToObj(element).collect(Collectors.joining(separator));
    }

    static int kinds() {
        return KINDS.size();
    }

    /** One of each kind, in order: what a short run does. */
    static Hostile of(int kind, SplittableRandom random) {
        Kind chosen = KINDS.get(kind);
        return new Hostile(chosen.name(), chosen.text().apply(random));
    }

    static Hostile draw(SplittableRandom random) {
        return of(random.nextInt(KINDS.size()), random);
    }
}
