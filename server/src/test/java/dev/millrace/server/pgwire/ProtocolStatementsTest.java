package dev.millrace.server.pgwire;

import static dev.millrace.server.pgwire.RawClient.bind;
import static dev.millrace.server.pgwire.RawClient.describe;
import static dev.millrace.server.pgwire.RawClient.execute;
import static dev.millrace.server.pgwire.RawClient.message;
import static dev.millrace.server.pgwire.RawClient.parse;
import static dev.millrace.server.pgwire.RawClient.query;
import static dev.millrace.server.pgwire.RawClient.sync;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What messages prepare and open, and SQL: one set of names. Errors behind a Flush. Message by message, as no driver would. */
@Timeout(120)
class ProtocolStatementsTest {
    private final TestServer server = new TestServer();
    private RawClient client;

    @BeforeEach
    void begin() throws IOException {
        client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private static byte[] flush() {
        return message('H', out -> {});
    }

    private static byte[] close(char kind, String name) {
        return message('C', out -> {
            out.writeByte(kind);
            RawClient.text(out, name);
        });
    }

    /** Rows by their first column, tags and codes of errors, up to ReadyForQuery. */
    private List<String> answers() throws IOException {
        List<String> answers = new ArrayList<>();
        for (RawClient.Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            switch (next.type()) {
                case 'D' -> answers.add(next.column());
                case 'E' -> answers.add(next.field('C'));
                case 'N' -> {}
                case 'C' -> answers.add(new String(next.body(), 0, next.body().length - 1));
                case 's' -> answers.add("suspended");
                default -> {}
            }
        }
        return answers;
    }

    /** What does not wait for a Sync. */
    private void prepare(String name, String sql) throws IOException {
        client.send(parse(name, sql), sync());
        assertEquals(List.of(), answers());
    }

    @Test
    void aStatementThatSqlPreparesIsNotAnEarlierOneOfTheProtocol() throws IOException {
        prepare("p", "SELECT 'of the protocol'");
        assertEquals(List.of("DEALLOCATE"), ask("DEALLOCATE p"));
        assertEquals(List.of("PREPARE"), ask("PREPARE p AS SELECT 'of SQL'"));
        client.send(bind("", "p"), execute("", 0), sync());
        assertEquals(List.of("of SQL", "SELECT 1"), answers());
        assertEquals(List.of("DISCARD ALL"), ask("DISCARD ALL"));
        client.send(bind("", "p"), execute("", 0), sync());
        assertEquals(List.of("26000"), answers());
    }

    /** As psycopg does, whose names are never used again. */
    @Test
    void statementsThatSqlForgetsTakeNoPlace() throws IOException {
        for (int round = 0; round < 11; round++) {
            byte[][] messages = new byte[1_001][];
            StringBuilder forget = new StringBuilder();
            for (int i = 0; i < 1_000; i++) {
                String name = "s" + round + "_" + i;
                messages[i] = parse(name, "SELECT 1");
                forget.append("DEALLOCATE ").append(name).append("; ");
            }
            messages[1_000] = sync();
            client.send(messages);
            assertEquals(List.of(), answers(), "round " + round);
            assertEquals(1_000, ask(forget.toString()).size());
        }
    }

    private List<String> ask(String sql) throws IOException {
        client.send(query(sql));
        return answers();
    }

    @Test
    void anErrorComesWithTheFlushBehindIt() throws IOException {
        for (int times = 0; times < 100; times++) {
            client.send(parse("", "SELECT * FROM nowhere"), describe('S', ""), flush());
            assertEquals("42P01", client.next('E').field('C'));
            client.send(flush(), bind("", ""), execute("", 0), flush(), sync());
            assertEquals(List.of(), answers(), "skipped up to the Sync");
            client.send(parse("", "SELECT 1 / 0"), bind("", ""), execute("", 0));
            client.send(flush());
            assertEquals("22012", client.next('E').field('C'));
            client.send(sync());
            answers();
        }
    }

    @Test
    void sqlKnowsStatementsOfTheProtocol() throws IOException {
        client.send(parse("one", "SELECT 1"), parse("two", "SELECT $1::int + 1"), sync());
        answers();
        assertEquals(
                List.of("one", "two", "SELECT 2"),
                ask("SELECT name FROM pg_prepared_statements WHERE NOT from_sql ORDER BY name"));
        assertEquals(List.of("SELECT 1", "SELECT 1"), ask("SELECT statement FROM pg_prepared_statements LIMIT 1"));
        assertEquals(List.of("1", "SELECT 1"), ask("EXECUTE one"));
        assertEquals(List.of("42P05"), ask("PREPARE one AS SELECT 2"));
        assertEquals(List.of("DEALLOCATE"), ask("DEALLOCATE one"));
        assertEquals(List.of("26000"), ask("DEALLOCATE one"));
        client.send(bind("", "one"), execute("", 0), sync());
        assertEquals(List.of("26000"), answers());
        client.send(parse("one", "SELECT 11"), bind("", "one"), execute("", 0), sync());
        assertEquals(List.of("11", "SELECT 1"), answers());
        assertEquals(List.of("DEALLOCATE ALL"), ask("DEALLOCATE ALL"));
        assertEquals(List.of("0", "SELECT 1"), ask("SELECT count(*) FROM pg_prepared_statements"));
        client.send(bind("", "two", "1"), execute("", 0), sync());
        assertEquals(List.of("26000"), answers());
    }

    @Test
    void theProtocolKnowsStatementsOfSql() throws IOException {
        ask("PREPARE plus (INT) AS SELECT $1 + 1");
        client.send(parse("plus", "SELECT 1"), sync());
        assertEquals(List.of("42P05"), answers());
        client.send(bind("", "plus", "41"), execute("", 0), sync());
        assertEquals(List.of("42", "SELECT 1"), answers());
        client.send(close('S', "plus"), sync());
        answers();
        assertEquals(List.of("26000"), ask("EXECUTE plus(1)"));
    }

    @Test
    void aSessionPreparesAgainAndAgainWithoutEnd() throws IOException {
        for (int i = 0; i < 10_100; i++) {
            client.send(parse("p", "SELECT " + i % 7), query("DEALLOCATE p"));
            assertEquals(List.of("DEALLOCATE"), answers());
        }
    }

    @Test
    void sqlReadsAndMovesPortalsOfTheProtocol() throws IOException {
        client.send(
                query("BEGIN"),
                parse("", "SELECT n FROM generate_series(1, 100) AS g(n)"),
                bind("numbers", ""),
                execute("numbers", 3),
                sync());
        assertEquals(List.of("BEGIN"), answers());
        assertEquals(List.of("1", "2", "3", "suspended"), answers());
        assertEquals(List.of("numbers", "SELECT 1"), ask("SELECT name FROM pg_cursors"));
        assertEquals(List.of("MOVE 5"), ask("MOVE 5 FROM numbers"));
        assertEquals(List.of("9", "10", "FETCH 2"), ask("FETCH 2 FROM numbers"));
        client.send(execute("numbers", 1), sync());
        assertEquals(List.of("11", "suspended"), answers());
        assertEquals(List.of("MOVE 89"), ask("MOVE ALL FROM numbers"));
        assertEquals(List.of("FETCH 0"), ask("FETCH 1 FROM numbers"));
        assertEquals(List.of("CLOSE CURSOR"), ask("CLOSE numbers"));
        assertEquals(List.of("0", "SELECT 1"), ask("SELECT count(*) FROM pg_cursors"));
        ask("DECLARE c CURSOR FOR SELECT 1");
        assertEquals(List.of("c", "SELECT 1"), ask("SELECT name FROM pg_cursors"));
        client.send(parse("", "SELECT 5"), bind("p", ""), sync());
        answers();
        assertEquals(List.of("5", "FETCH 1"), ask("FETCH ALL FROM p"), "before it was executed");
        ask("ROLLBACK");
        assertEquals(List.of("0", "SELECT 1"), ask("SELECT count(*) FROM pg_cursors"));
    }

    @Test
    void aSubscriptionWithALimitWaitsForARow() throws Exception {
        try (Connection other = server.connect();
                Statement writer = other.createStatement()) {
            writer.execute("CREATE STREAM s (v BIGINT)");
            client.send(parse("", "SUBSCRIBE TO s"), bind("sub", ""), describe('P', "sub"), execute("sub", 2), sync());
            client.next('T');
            int[] value = {0};
            try (Eventually.Repeated writing = Eventually.repeat(() -> writer.execute("INSERT INTO s VALUES (4711)"))) {
                List<String> answers = answers();
                assertTrue(answers.size() >= 2 && answers.get(0).equals("+"), answers.toString());
                assertEquals("suspended", answers.get(answers.size() - 1));
            }
        }
    }

    @Test
    void aSubscriptionBeginsAtOnceForWhoAsksForThat() throws IOException {
        ask("CREATE STREAM s (v BIGINT)");
        ask("SET subscription_begins = at_once");
        ask("BEGIN");
        client.send(parse("", "SUBSCRIBE TO s"), bind("sub", ""), execute("sub", 2), sync());
        assertEquals(List.of("suspended"), answers());
        ask("INSERT INTO s VALUES (4711)");
        ask("COMMIT");
    }

    /** What comes behind these messages and a Flush, and nothing else; then the state that Sync tells. */
    private String flushed(byte[]... messages) throws IOException {
        client.send(messages);
        client.send(flush(), sync());
        StringBuilder seen = new StringBuilder();
        RawClient.Message next = client.next();
        for (; next.type() != 'Z'; next = client.next()) {
            seen.append(next.type() == 'E' ? next.field('C') : String.valueOf(next.type()))
                    .append(' ');
        }
        return seen.append((char) next.body()[0]).toString();
    }

    @Test
    void parseTellsWhatIsWrongWithAStatement() throws IOException {
        ask("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
        for (String[] wrong : new String[][] {
            {"SELECT nope", "42703"},
            {"SELECT * FROM nowhere", "42P01"},
            {"SELECT a FROM t WHERE nope = $1", "42703"},
            {"SELECT a, count(*) FROM t", "42803"},
            {"SELECT nofunction(1)", "42883"},
            {"SELECT 1 WHERE $2 = 1", "42P18"},
            {"SELEC 1", "42601"},
            {"INSERT INTO t (nope) VALUES ($1)", "42703"},
            {"INSERT INTO nowhere VALUES (1)", "42P01"},
            {"UPDATE t SET nope = 1", "42703"},
            {"DELETE FROM t WHERE nope", "42703"},
            {"WITH d AS (DELETE FROM t RETURNING nope) SELECT * FROM d", "42703"},
            {"MERGE INTO t USING nowhere n ON n.id = t.id WHEN MATCHED THEN DELETE", "42P01"},
            {"SUBSCRIBE TO nowhere", "42P01"},
            {"EXPLAIN SELECT nope FROM t", "42703"},
            {"EXPLAIN ANALYZE SELECT * FROM nowhere", "42P01"},
            {"EXPLAIN UPDATE t SET nope = 1", "42703"},
            {"DECLARE c CURSOR FOR SELECT nope", "42703"},
            {"DECLARE c CURSOR WITH HOLD FOR SELECT * FROM nowhere WHERE id = $1", "42P01"},
            {"SELECT 1; SELECT 2", "42601"},
        }) {
            for (int times = 0; times < 2; times++) { // the text may be remembered
                assertEquals(wrong[1] + " I", flushed(parse("p", wrong[0])), wrong[0]);
                assertEquals(wrong[1] + " I", flushed(parse("p", wrong[0]), bind("", "p"), execute("", 0)), wrong[0]);
            }
            assertEquals("26000 I", flushed(bind("", "p")), "it is not there");
        }
        assertEquals("1 I", flushed(parse("p", "SELECT a FROM t WHERE id = $1")));
        assertEquals("1 I", flushed(parse("", "SELECT 1")));
        assertEquals("42703 I", flushed(parse("", "SELECT nope")));
        assertEquals("26000 I", flushed(bind("", "")), "the one before is gone");
    }

    @Test
    void statementsThatOnlyRunAreNotLookedAtBefore() throws IOException {
        for (String text : List.of(
                "DROP TABLE nowhere",
                "ALTER TABLE nowhere ADD COLUMN a INT",
                "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a",
                "")) {
            assertEquals("1 I", flushed(parse("", text)), text);
        }
        assertEquals(
                "1 2 C 1 2 C I",
                flushed(
                        parse("", "CREATE TABLE made (a INT)"),
                        bind("", ""),
                        execute("", 0),
                        parse("", "INSERT INTO made VALUES ($1)"),
                        bind("", "", "1"),
                        execute("", 0)));
        assertEquals(List.of("1", "SELECT 1"), ask("SELECT a FROM made"));
    }

    @Test
    void anErrorOfParseEndsTheTransactionAndWhatFollowsUpToSync() throws IOException {
        ask("CREATE TABLE t (id INT PRIMARY KEY)");
        ask("BEGIN");
        assertEquals(
                "1 2 C 42703 E",
                flushed(
                        parse("", "INSERT INTO t VALUES (1)"),
                        bind("", ""),
                        execute("", 0),
                        parse("", "SELECT nope"),
                        bind("", ""),
                        execute("", 0)));
        assertEquals("25P02 E", flushed(parse("p", "SELECT 1")));
        assertEquals("25P02 E", flushed(parse("p", "SET extra_float_digits = 1")));
        assertEquals("1 2 C I", flushed(parse("", "ROLLBACK"), bind("", ""), execute("", 0)));
        assertEquals(List.of("0", "SELECT 1"), ask("SELECT count(*) FROM t"));

        assertEquals(
                "1 2 C 1 42P01 I",
                flushed(
                        parse("", "INSERT INTO t VALUES (2)"),
                        bind("", ""),
                        execute("", 0),
                        parse("", "SELECT 1"),
                        parse("", "SELECT * FROM nowhere"),
                        execute("", 0)),
                "what is sent without waiting takes effect together");
        assertEquals(List.of("0", "SELECT 1"), ask("SELECT count(*) FROM t"));

        assertEquals("1 I", flushed(parse("p", "SELECT id FROM t")));
        ask("BEGIN");
        assertEquals("42703 E", flushed(parse("", "SELECT nope")));
        assertEquals("25P02 E", flushed(bind("", "p")));
        ask("ROLLBACK");
        assertEquals("2 C I", flushed(bind("", "p"), execute("", 0)));
    }

    @Test
    void preparedStatementsSurviveDefinitions() throws IOException {
        ask("CREATE TABLE t (id INT PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 10)");
        for (String text : List.of("SELECT a FROM t WHERE id = $1", "SELECT a + 0 FROM t WHERE id + 0 = $1")) {
            prepare(text, text);
            client.send(bind("", text, "1"), execute("", 0), sync());
            assertEquals(List.of("10", "SELECT 1"), answers());
        }
        ask("DROP TABLE t");
        for (String text : List.of("SELECT a FROM t WHERE id = $1", "SELECT a + 0 FROM t WHERE id + 0 = $1")) {
            client.send(bind("", text, "1"), execute("", 0), sync());
            assertEquals(List.of("42P01"), answers());
        }
        ask("CREATE TABLE t (b TEXT, a INT, id INT); INSERT INTO t VALUES ('x', 11, 1)");
        for (String text : List.of("SELECT a FROM t WHERE id = $1", "SELECT a + 0 FROM t WHERE id + 0 = $1")) {
            client.send(bind("", text, "1"), execute("", 0), sync());
            assertEquals(List.of("11", "SELECT 1"), answers());
        }
        client.send(parse("", "SELECT a FROM t WHERE id = $1"), sync());
        assertEquals(List.of(), answers());
        ask("ALTER TABLE t ADD COLUMN c INT");
        prepare("late", "INSERT INTO t (id, a) VALUES (2, 22)");
        ask("ALTER TABLE t ADD COLUMN d INT DEFAULT 5");
        client.send(bind("", "late"), execute("", 0), sync());
        assertEquals(List.of("INSERT 0 1"), answers());
        assertEquals(List.of("5", "SELECT 1"), ask("SELECT d FROM t WHERE id = 2"));
    }

    @Test
    void prepareInSqlTellsWhatIsWrongAsWell() throws IOException {
        assertEquals(List.of("42703"), ask("PREPARE p AS SELECT nope"));
        assertEquals(List.of("26000"), ask("EXECUTE p"));
        assertEquals(List.of("PREPARE"), ask("PREPARE p AS SELECT $1::int"));
    }

    @Test
    void aCancelWhileTheClientHasTheWordLeavesASuspendedPortalAlone() throws Exception {
        String process = ask("SELECT pg_backend_pid()").get(0);
        ask("BEGIN");
        client.send(
                parse("p", "SELECT g FROM generate_series(1, 1000000) g(g)"), bind("c", "p"), execute("c", 2), sync());
        assertEquals(List.of("1", "2", "suspended"), answers());
        try (Connection other = server.connect();
                Statement statement = other.createStatement()) {
            statement.execute("SELECT pg_cancel_backend(" + process + ")");
        }
        client.send(execute("c", 2), sync());
        assertEquals(List.of("3", "4", "suspended"), answers());
        ask("COMMIT");
    }
}
