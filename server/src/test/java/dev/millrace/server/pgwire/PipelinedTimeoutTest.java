package dev.millrace.server.pgwire;

import static dev.millrace.server.pgwire.RawClient.bind;
import static dev.millrace.server.pgwire.RawClient.execute;
import static dev.millrace.server.pgwire.RawClient.message;
import static dev.millrace.server.pgwire.RawClient.parse;
import static dev.millrace.server.pgwire.RawClient.query;
import static dev.millrace.server.pgwire.RawClient.sync;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.server.settings.Setting;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.TestClock;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each statement of a pipeline has the whole time that statement_timeout gives. */
@Timeout(60)
class PipelinedTimeoutTest {
    private final TestClock clock = new TestClock(0);
    private final Database database =
            Database.open(DatabaseOptions.defaults().withWorkers(1).withClock(clock));

    /** Moves on, and waits until all deadlines were looked at. */
    private void advance(long millis) {
        Session[] watched = new Session[2];
        for (int i = 0; i < watched.length; i++) {
            watched[i] = database.session();
            watched[i].settings().set(Setting.IDLE_SESSION_TIMEOUT, "1");
        }
        watched[0].clientListens();
        clock.advance(millis * 1_000);
        Eventually.holds("a look at the deadlines", () -> watched[0].endedBy().isPresent());
        watched[1].clientListens();
        clock.advance(1_000);
        Eventually.holds("the look after that", () -> watched[1].endedBy().isPresent());
        for (Session session : watched) {
            session.close();
        }
    }

    @Test
    void theTimeOfOneStatementIsNotTakenOffTheNext() throws IOException {
        byte[] flush = message('H', out -> {});
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = new RawClient(server.port())) {
            client.send(RawClient.startup("user", "millrace"));
            client.next('Z');
            client.send(query("SET statement_timeout = 1000"));
            client.next('Z');
            client.send(parse("", "SELECT count(*) FROM generate_series(1, 10)"), bind("", ""), execute("", 0), flush);
            client.next('C');
            advance(700);
            client.send(parse("", "SELECT count(*) FROM generate_series(1, 20)"), flush);
            client.next('1');
            advance(700);
            client.send(bind("", ""), execute("", 0), sync());
            assertEquals("20", client.next('D').column());
            client.next('Z');
        } finally {
            database.close();
        }
    }
}
