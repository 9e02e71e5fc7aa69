package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Heard;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random filters, projections, groups and windows of a stream, each also as one of a hundred queries and subscriptions that differ in literals: what a query and a
 * subscription among them are told, and how they fail, is what the same are told by themselves, and what the oracle answers; also while others come and go. Views likewise, whose
 * database is opened again, with checkpoints and without.
 * {@code -Dmillrace.random.groups=N} sets how many (15).
 */
@Tag("long")
class RandomGroupsTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.groups", 10);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int MEMBERS = 100;
    private static final int VIEWS = 30;
    private static final int CHUNKS = 4;

    private static final String NO_KEYS = "/* no keys */ ";
    private static final String STATE = "SELECT state FROM millrace.query_stats WHERE query = ";
    private static final String CUT_OFF = " WITH (on_slow = 'disconnect')";

    /** A query in which {@code ?kind} stands for a literal. */
    private static Dual random(Chance chance) {
        RandomExpressions expressions = new RandomExpressions(chance);
        Dual finds = Dual.same(chance.of(
                "g = ?text",
                "k = ?int",
                "i > ?int",
                "i BETWEEN ?int AND ?int",
                "g = ?text AND i >= ?int",
                "k = ?int AND x < ?real AND x > ?real",
                "l > ?int AND t < ?text",
                "?text = g AND k = ?int AND n > ?decimal",
                "day >= DATE ?date",
                "ts < TIMESTAMP ?date AND g = ?text"));
        Dual rest = chance.of(
                Dual.same(""),
                new Dual(" AND 100 / (i - ?int) > ?int", " AND 100 // (i - ?int) > ?int"),
                Dual.same(" AND (t = ?text OR k <> ?int)"),
                Dual.same(" AND i + ?int > k * ?int"),
                Dual.of(" AND {}", expressions.condition(2)));
        if (chance.percent(60)) {
            return grouped(chance, finds, rest);
        }
        Dual shown = Dual.same("id");
        for (int i = chance.between(0, 3); i > 0; i--) {
            shown = shown.then(Dual.of(
                    ", {} AS c" + i,
                    chance.of(
                            Dual.same("?text"),
                            Dual.same("i * ?int"),
                            Dual.same("x + ?real"),
                            Dual.same("g"),
                            Dual.same("n"),
                            Dual.same("t || ?text"),
                            expressions.any(2))));
        }
        return Dual.of("SELECT {} FROM " + RandomRound.STREAM + " WHERE {}{}", shown, finds, rest);
    }

    /** A query that groups what its filter leaves. */
    private static Dual grouped(Chance chance, Dual finds, Dual rest) {
        Dual where = Dual.of(" WHERE {}{}", finds, rest);
        String calls = chance.of(
                "count(*) AS n, sum(l) AS s",
                "count(i) AS n, min(t) AS a, max(l) AS m",
                "count(*) AS n, sum(x) AS s, avg(x) AS a",
                "count(DISTINCT k) AS n, max(id) AS m",
                "sum(n) AS s, count(*) FILTER (WHERE i > 0) AS n");
        String keys = chance.of("g", "k", "g, k");
        return switch (chance.below(8)) {
            case 0 -> Dual.of("SELECT " + NO_KEYS + calls + " FROM events{}", where);
            case 1 ->
                Dual.of(
                        "SELECT " + keys + ", " + calls + " FROM events{} GROUP BY " + keys + " HAVING count(*) > 2",
                        where);
            case 2 -> Dual.of("SELECT DISTINCT " + keys + " FROM events{}", where);
            case 3 ->
                new Dual(
                        "SELECT g, 100 / (count(*) - 3) AS q FROM events" + where.ours() + " GROUP BY g",
                        "SELECT g, 100 // (count(*) - 3) AS q FROM events" + where.duck() + " GROUP BY g");
            case 4 ->
                Dual.of(
                        "SELECT c, count(*) AS n FROM (SELECT " + keys + ", count(*) AS c FROM events{} GROUP BY "
                                + keys + ") AS q GROUP BY c",
                        where);
            case 5 -> windowed("TUMBLE(events, ts, INTERVAL '5 seconds')", keys + ", ", keys + ", ", calls, where);
            case 6 -> windowed("HOP(events, ts, INTERVAL '2 seconds', INTERVAL '6 seconds')", "", "", calls, where);
            default -> Dual.of("SELECT " + keys + ", " + calls + " FROM events{} GROUP BY " + keys, where);
        };
    }

    /** Of windows that have closed, which the oracle does not know. */
    private static Dual windowed(String windows, String shown, String keys, String calls, Dual where) {
        return new Dual(
                "SELECT " + shown + "window_end, " + calls + " FROM " + windows + where.ours() + " GROUP BY " + keys
                        + "window_start, window_end",
                "");
    }

    /** The same literals in both dialects. */
    private static Dual filled(Dual query, Chance chance) {
        List<String> literals = new ArrayList<>();
        String ours = filled(query.ours(), kind -> {
            literals.add(literal(kind, chance));
            return literals.get(literals.size() - 1);
        });
        Iterator<String> again = literals.iterator();
        return new Dual(ours, filled(query.duck(), kind -> again.next()));
    }

    private static String filled(String query, Function<String, String> literals) {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (int next = query.indexOf('?'); next >= 0; next = query.indexOf('?', at)) {
            int end = next + 1;
            while (end < query.length() && Character.isLetter(query.charAt(end))) {
                end++;
            }
            text.append(query, at, next).append(literals.apply(query.substring(next + 1, end)));
            at = end;
        }
        return text.append(query.substring(at)).toString();
    }

    private static String literal(String kind, Chance chance) {
        return switch (kind) {
            case "text" -> chance.of("'a'", "'b'", "''", "'longer than sixteen bytes'", "'it''s'");
            case "int" -> Integer.toString(chance.between(0, 60));
            case "real" -> chance.between(0, 99) + ".5e0";
            case "decimal" -> chance.between(10, 99) + "." + chance.between(10, 99);
            case "date" -> "'20" + chance.between(10, 30) + "-0" + chance.between(1, 9) + "-11'";
            default -> throw new IllegalArgumentException(kind);
        };
    }

    /** One of the others: a query, or a subscription. */
    private static AutoCloseable other(TestDatabase database, int number, String query, Chance chance) {
        if (chance.percent(50)) {
            return new Heard(database, "(" + query + ")" + CUT_OFF);
        }
        database.run("CREATE CONTINUOUS QUERY other_" + number + " AS " + query);
        return () -> database.run("DROP CONTINUOUS QUERY other_" + number);
    }

    private final Map<String, Integer> refused = new TreeMap<>();
    private int compared;
    private int failed; // answers
    private int answered; // by the oracle

    @Test
    void aQueryAmongAHundredIsToldWhatItWouldBeAlone() {
        for (long seed = SEED; compared < QUERIES; seed++) {
            Chance chance = new Chance(seed);
            Dual query = random(chance);
            try (TestDatabase database = new TestDatabase(1 + (int) (seed % 2));
                    Oracle oracle = Oracle.open()) {
                compare(database, oracle, query, chance);
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed + ", " + query + ": " + e, e);
            }
            assertTrue(seed - SEED < 20L * QUERIES, "of so many queries few can be in a group: " + refused);
        }
        System.out.println("random queries in groups: " + compared + " compared, " + answered
                + " answers of the oracle, " + failed + " failures, refused " + refused);
        assertTrue(answered > QUERIES, "the oracle had few to answer");
    }

    private void compare(TestDatabase database, Oracle oracle, Dual query, Chance chance) throws Exception {
        database.run("CREATE STREAM " + RandomRound.STREAM + " (" + RandomRows.DECLARATIONS
                + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds')");
        oracle.create(RandomRound.STREAM, RandomRows.SCHEMA);
        Dual one = filled(query, chance);
        Dual two = filled(query, chance);
        try {
            database.run("SET query_groups = off; CREATE CONTINUOUS QUERY one_alone AS " + one.ours());
        } catch (MillraceException e) {
            refused.merge(e.sqlState() + " " + e.getMessage().replaceAll("\".*\"|[0-9]+", ".."), 1, Integer::sum);
            return;
        }
        List<AutoCloseable> others = new ArrayList<>();
        int leaves = chance.percent(50) ? chance.below(CHUNKS) : CHUNKS; // at this moment
        RandomRows rows = new RandomRows(chance);
        try (Heard oneAlone = new Heard(database, "one_alone");
                Heard twoAlone = new Heard(database, "(" + two.ours() + ")" + CUT_OFF)) {
            database.run("SET query_groups = on");
            for (int other = 0; other < MEMBERS / 2; other++) {
                others.add(other(database, other, filled(query, chance).ours(), chance));
            }
            database.run("CREATE CONTINUOUS QUERY one AS " + one.ours());
            if (members(database, "one") == 0) {
                refused.merge("not in a group", 1, Integer::sum);
                return;
            }
            try (Heard oneOfMany = new Heard(database, "one");
                    Heard twoOfMany = new Heard(database, "(" + two.ours() + ")" + CUT_OFF)) {
                for (int other = MEMBERS / 2; other < MEMBERS - 2; other++) {
                    others.add(other(database, other, filled(query, chance).ours(), chance));
                }
                assertTrue(members(database, "subscription") > MEMBERS / 5, "subscriptions run by themselves");
                for (int chunk = 0; chunk < CHUNKS; chunk++) {
                    boolean pauses = chunk == leaves;
                    if (pauses && database.rows(STATE + "'one'").equals(List.of("running"))) {
                        database.run("PAUSE CONTINUOUS QUERY one; RESUME CONTINUOUS QUERY one");
                    }
                    oracle.insert(RandomRound.STREAM, rows.insert(database, chance.of(1, 10, 100)));
                    database.run("FLUSH");
                    check(oneAlone, oneOfMany, oracle, heardFromTheBegin(one) ? one : new Dual(one.ours(), ""));
                    check(twoAlone, twoOfMany, oracle, two);
                    int other = chance.below(MEMBERS - 2);
                    others.get(other).close();
                    others.set(
                            other, other(database, other, filled(query, chance).ours(), chance));
                }
            }
        } finally {
            Closing.all(others);
        }
        boolean hasLeft = leaves < CHUNKS || !database.rows(STATE + "'one'").equals(List.of("running"));
        String counters = hasLeft ? "" : ", rows_in, rows_out, late_rows"; // else they begin at zero
        String stats = "SELECT state, sqlstate, error" + counters + " FROM millrace.query_stats WHERE query = ";
        assertEquals(database.rows(stats + "'one_alone'"), database.rows(stats + "'one'"));
        compared++;
    }

    @TempDir
    Path folder;

    @Test
    void aViewAmongManyShowsWhatItWouldAlone() {
        for (long seed = SEED; compared < QUERIES; seed++) {
            Chance chance = new Chance(seed);
            Dual query = random(chance);
            try (Oracle oracle = Oracle.open()) {
                compareViews(folder.resolve("seed-" + seed), oracle, query, chance);
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed + ", " + query + ": " + e, e);
            }
            assertTrue(seed - SEED < 20L * QUERIES, "of so many views few can be in a group: " + refused);
        }
        System.out.println("random views in groups: " + compared + " compared, " + answered + " answers of the oracle, "
                + failed + " failures, refused " + refused);
        assertTrue(answered > QUERIES, "the oracle had few to answer");
    }

    private void compareViews(Path directory, Oracle oracle, Dual query, Chance chance) {
        Dual one = filled(query, chance);
        TestDatabase database = new TestDatabase(directory);
        try {
            database.run("CREATE STREAM " + RandomRound.STREAM + " (" + RandomRows.DECLARATIONS
                    + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds')");
            oracle.create(RandomRound.STREAM, RandomRows.SCHEMA);
            try {
                database.run("SET query_groups = off; " + view("alone", one));
            } catch (MillraceException e) {
                refused.merge(e.sqlState() + " " + e.getMessage().replaceAll("\".*\"|[0-9]+", ".."), 1, Integer::sum);
                return;
            }
            database.run("SET query_groups = on");
            for (int other = 0; other < VIEWS; other++) {
                database.run(view("other_" + other, filled(query, chance)));
            }
            database.run(view("one", one) + ";" + view("leaves", one));
            if (members(database, "one") == 0) {
                refused.merge("not in a group", 1, Integer::sum);
                return;
            }
            RandomRows rows = new RandomRows(chance);
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                oracle.insert(RandomRound.STREAM, rows.insert(database, chance.of(1, 10, 100)));
                database.run("FLUSH");
                checkView(database, "one", oracle, one);
                checkView(database, "leaves", oracle, one);
                if (chunk == 1 && database.rows(STATE + "'leaves'").equals(List.of("running"))) {
                    database.run(
                            chance.percent(50)
                                    ? "PAUSE MATERIALIZED VIEW leaves; RESUME MATERIALIZED VIEW leaves"
                                    : "CREATE MATERIALIZED VIEW of_leaves AS SELECT * FROM leaves");
                }
                int other = chance.below(VIEWS);
                database.run(
                        "DROP MATERIALIZED VIEW other_" + other + ";" + view("other_" + other, filled(query, chance)));
                if (chance.percent(50)) {
                    database.run("CHECKPOINT");
                }
                if (chance.percent(30)) {
                    oracle.insert(RandomRound.STREAM, rows.insert(database, chance.of(1, 10)));
                }
                if (chance.percent(60)) {
                    database.close();
                    database = new TestDatabase(directory);
                    checkView(database, "one", oracle, one);
                    checkView(database, "leaves", oracle, one);
                }
            }
            compared++;
        } finally {
            database.close();
        }
    }

    private static String view(String name, Dual query) {
        return "CREATE MATERIALIZED VIEW " + name + " AS " + query.ours();
    }

    private void checkView(TestDatabase database, String name, Oracle oracle, Dual query) {
        String shown = shown(database, name);
        assertEquals(shown(database, "alone"), shown, name);
        if (shown.startsWith("[") && !query.duck().isEmpty()) {
            try (Heard heard = new Heard(database, name + " WITH (SNAPSHOT)")) {
                heard.all();
                assertEquals("", oracle.differences(query.duck(), heard.schema(), heard.set()));
            }
            answered++;
        } else if (!shown.startsWith("[")) {
            failed++;
        }
    }

    /** Its rows; or of what reading it fails: which of several rows is named, and by which number, may differ. */
    private static String shown(TestDatabase database, String view) {
        try {
            return database.rows("SELECT * FROM " + view).stream()
                    .sorted()
                    .toList()
                    .toString();
        } catch (MillraceException e) {
            return e.sqlState().toString();
        }
    }

    /** Whether who subscribes to a query with a name before the first row hears all of its answer. */
    private static boolean heardFromTheBegin(Dual query) {
        return !query.ours().contains(NO_KEYS);
    }

    /** How many queries with such names share what runs them. */
    private static long members(TestDatabase database, String begin) {
        return database.database().engine().queries().stream()
                .filter(query -> query.name().startsWith(begin))
                .map(StandingQuery::group)
                .filter(Optional::isPresent)
                .count();
    }

    /** Both are told the same; rows, if none failed, are what the oracle has. */
    private void check(Heard alone, Heard ofMany, Oracle oracle, Dual query) {
        String told = told(ofMany);
        assertEquals(told(alone), told);
        if (told.startsWith("{") && !query.duck().isEmpty()) {
            assertEquals("", oracle.differences(query.duck(), ofMany.schema(), ofMany.set()));
            answered++;
        } else if (!told.startsWith("{")) {
            failed++;
        }
    }

    private static String told(Heard heard) {
        try {
            return heard.all().toString();
        } catch (MillraceException e) {
            return e.sqlState() + " " + e.getMessage();
        }
    }
}
