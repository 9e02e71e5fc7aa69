package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A statement that waits for its client ends when its time is over, and holds nothing any more. */
@Timeout(120)
class SilentClientTest {
    private static final String ENDLESS = "SELECT n, repeat('x', 1000) FROM generate_series(1, 1000000000) AS t(n)";

    private final Database database = Millrace.open();
    private final PgServer server = PgServer.listen(database, PgServerOptions.local(0));
    private RawClient client;

    @BeforeEach
    void connect() throws IOException {
        client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
        ask("CREATE TABLE t (n INTEGER)");
        requireAlive(); // the first SELECT loads what all need, which takes its time on a busy machine
        ask("SET statement_timeout = '1s'");
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        database.close();
    }

    private void ask(String sql) throws IOException {
        client.send(RawClient.query(sql));
        client.next('Z');
    }

    private void requireTimeout() throws IOException {
        assertEquals("57014", client.next('E').field('C'));
        client.next('Z');
    }

    private void requireAlive() throws IOException {
        client.send(RawClient.query("SELECT count(*) FROM t"));
        assertEquals("0", client.next('D').column());
        client.next('Z');
    }

    @Test
    void aCopyThatGetsNoRowsEnds() throws IOException {
        client.send(RawClient.query("COPY t FROM STDIN"));
        client.next('G');
        requireTimeout();
        requireAlive();
    }

    @Test
    void rowsThatNobodyReadsEnd() throws IOException {
        requireAlive();
        long before = database.engine().allocatedBytes();
        client.send(RawClient.query(ENDLESS));
        client.next('D');
        Eventually.holds("its memory is free", () -> database.engine().allocatedBytes() <= before);
        requireTimeout();
        requireAlive();
    }

    @Test
    void aCopyThatNobodyReadsEnds() throws IOException {
        requireAlive();
        long before = database.engine().allocatedBytes();
        client.send(RawClient.query("COPY (" + ENDLESS + ") TO STDOUT"));
        client.next('d');
        Eventually.holds("its memory is free", () -> database.engine().allocatedBytes() <= before);
        requireTimeout();
        requireAlive();
    }

    @Test
    void eachPortionOfAPortalHasTimeOfItsOwn() throws IOException {
        ask("BEGIN");
        client.send(
                RawClient.parse("", "SELECT count(*) FROM generate_series(1, 1000000000000) AS t(n)"),
                RawClient.bind("p", ""),
                RawClient.execute("p", 1),
                RawClient.sync());
        requireTimeout();
        ask("ROLLBACK");
        requireAlive();
    }
}
