package dev.millrace.server.log;

import java.util.Arrays;
import java.util.List;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * Where one part of the server logs its events. An event is a text that is always the same, and fields that are not:
 *
 * <pre>
 *   private static final EventLog LOG = EventLog.named("pgwire");
 *   LOG.info("client refused", "client", address, "sqlstate", "28P01");
 * </pre>
 */
public final class EventLog {
    private static final String PREFIX = "millrace.";

    private final String name;

    private EventLog(String name) {
        this.name = name;
    }

    /** @param part such as {@code http} */
    public static EventLog named(String part) {
        return new EventLog(PREFIX + part);
    }

    /** @param fields names and values in turn */
    public void error(String event, Throwable cause, Object... fields) {
        log(LogLevel.ERROR, event, cause, fields);
    }

    public void warning(String event, Object... fields) {
        log(LogLevel.WARNING, event, null, fields);
    }

    public void info(String event, Object... fields) {
        log(LogLevel.INFO, event, null, fields);
    }

    public void debug(String event, Object... fields) {
        log(LogLevel.DEBUG, event, null, fields);
    }

    private void log(LogLevel level, String event, @Nullable Throwable cause, Object... fields) {
        if (!Logs.takes(level)) {
            return;
        }
        Event logged = new Event(level, event, Arrays.asList(fields));
        logged.setLoggerName(name);
        logged.setThrown(cause);
        Logs.write(logged);
    }

    /** A record of ours, which has fields. */
    static final class Event extends LogRecord {
        private static final long serialVersionUID = 1;

        private final transient List<Object> fields;

        Event(LogLevel level, String event, List<Object> fields) {
            super(level.level(), event);
            this.fields = fields;
        }

        List<Object> fields() {
            return fields;
        }
    }
}
