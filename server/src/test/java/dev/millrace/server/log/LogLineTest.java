package dev.millrace.server.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.log.EventLog.Event;
import java.time.Instant;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LogLineTest {
    private static Event event(Object... fields) {
        Event event = new Event(LogLevel.INFO, "client refused", List.of(fields));
        event.setLoggerName("millrace.pgwire");
        event.setInstant(Instant.parse("2026-11-21T15:04:05.123456Z"));
        return event;
    }

    @Test
    void linesForPeopleAreOneLineWhateverIsInThem() {
        assertEquals(
                "2026-11-21T15:04:05.123Z INFO    pgwire: client refused client=10.0.0.7 user=\"a \\\"b\\\" c\" n=3",
                LogLine.text(event("client", "10.0.0.7", "user", "a \"b\"\nc", "n", 3)));
    }

    @Test
    void jsonHasTypesAndEscapes() {
        assertEquals(
                "{\"time\":\"2026-11-21T15:04:05.123Z\",\"level\":\"info\",\"part\":\"pgwire\",\"event\":\"client refused\","
                        + "\"user\":\"a\\n\\\"b\\\"\",\"n\":3,\"ok\":true}",
                LogLine.json(event("user", "a\n\"b\"", "n", 3L, "ok", true)));
    }

    @Test
    void librariesAndFailuresAreLoggedInTheSameForm() {
        LogRecord record = new LogRecord(Level.WARNING, "no {0} here");
        record.setParameters(new Object[] {"epoll"});
        record.setLoggerName("io.netty.channel");
        record.setThrown(new IllegalStateException("broken"));
        record.setInstant(Instant.parse("2026-11-21T15:04:05Z"));
        String text = LogLine.text(record);
        assertTrue(text.startsWith("2026-11-21T15:04:05Z WARNING io.netty.channel: no epoll here\n"), text);
        assertTrue(text.contains("IllegalStateException: broken"), text);
        assertTrue(LogLine.json(record).contains("\"stack\":\"java.lang.IllegalStateException: broken"));
    }
}
