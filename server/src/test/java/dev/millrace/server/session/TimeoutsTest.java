package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.settings.Setting;
import dev.millrace.testing.time.Eventually;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deadlines of all sessions, which one thread watches. */
@Timeout(60)
class TimeoutsTest {
    @Test
    void aSessionThatCannotBeEndedDoesNotTakeTheOthersTimeoutsAway() {
        try (TestDatabase database = new TestDatabase()) {
            Session gone = database.database().session();
            gone.onEnd(why -> {
                throw new RejectedExecutionException("who served it is closed");
            });
            gone.settings().set(Setting.IDLE_SESSION_TIMEOUT, "1");
            gone.clientListens();
            Eventually.holds("its end", () -> gone.endedBy().isPresent());
            database.run("SET statement_timeout = 50");
            assertEquals(
                    "57014", database.failure("SELECT pg_sleep(600)").sqlState().code());
            gone.close();
        }
    }

    @Test
    void whoListensLateHearsOfTheEndAsWell() {
        try (TestDatabase database = new TestDatabase();
                Session session = database.database().session()) {
            session.settings().set(Setting.IDLE_SESSION_TIMEOUT, "1");
            session.clientListens();
            Eventually.holds("its end", () -> session.endedBy().isPresent());
            StringBuilder heard = new StringBuilder();
            session.onEnd(why -> heard.append(why.sqlState().code()));
            assertEquals("57P05", heard.toString());
        }
    }
}
