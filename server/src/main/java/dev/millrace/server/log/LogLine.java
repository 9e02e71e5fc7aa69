package dev.millrace.server.log;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;

/**
 * One event as one line.
 *
 * <pre>
 *   2026-11-21T15:04:05.123Z INFO    pgwire: client refused client=10.0.0.7 sqlstate=28P01
 *   {"time":"2026-11-21T15:04:05.123Z","level":"info","part":"pgwire","event":"client refused","client":"10.0.0.7",...}
 * </pre>
 */
final class LogLine {
    private static final String PREFIX = "millrace.";
    private static final JsonFactory JSON = new JsonFactory();
    private static final SimpleFormatter MESSAGES = new SimpleFormatter();
    private static final Pattern PLAIN = Pattern.compile("[^\\s\"=\\p{Cntrl}]+");

    private LogLine() {}

    static String text(LogRecord record) {
        StringBuilder line = new StringBuilder()
                .append(time(record))
                .append(String.format(" %-7s ", LogLevel.of(record.getLevel())))
                .append(part(record))
                .append(": ")
                .append(MESSAGES.formatMessage(record).replace('\n', ' '));
        List<Object> fields = fields(record);
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            line.append(' ').append(fields.get(i)).append('=').append(quoted(String.valueOf(fields.get(i + 1))));
        }
        if (record.getThrown() != null) {
            line.append('\n').append(trace(record.getThrown()).stripTrailing());
        }
        return line.toString();
    }

    private static String quoted(String value) {
        if (PLAIN.matcher(value).matches()) {
            return value;
        }
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + '"';
    }

    static String json(LogRecord record) {
        StringWriter line = new StringWriter();
        try (JsonGenerator out = JSON.createGenerator(line)) {
            out.writeStartObject();
            out.writeStringField("time", time(record));
            out.writeStringField("level", LogLevel.of(record.getLevel()).name().toLowerCase(Locale.ROOT));
            out.writeStringField("part", part(record));
            out.writeStringField("event", MESSAGES.formatMessage(record));
            List<Object> fields = fields(record);
            for (int i = 0; i + 1 < fields.size(); i += 2) {
                value(out, String.valueOf(fields.get(i)), fields.get(i + 1));
            }
            if (record.getThrown() != null) {
                out.writeStringField("stack", trace(record.getThrown()));
            }
            out.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return line.toString();
    }

    private static void value(JsonGenerator out, String name, Object value) throws IOException {
        if (value instanceof Integer || value instanceof Long) {
            out.writeNumberField(name, ((Number) value).longValue());
        } else if (value instanceof Double number) {
            out.writeNumberField(name, number);
        } else if (value instanceof Boolean flag) {
            out.writeBooleanField(name, flag);
        } else {
            out.writeStringField(name, String.valueOf(value));
        }
    }

    private static String time(LogRecord record) {
        Instant time = record.getInstant().truncatedTo(ChronoUnit.MILLIS);
        return DateTimeFormatter.ISO_INSTANT.format(time);
    }

    private static String part(LogRecord record) {
        String name = record.getLoggerName() == null ? "" : record.getLoggerName();
        return name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
    }

    private static List<Object> fields(LogRecord record) {
        return record instanceof EventLog.Event event ? event.fields() : List.of();
    }

    private static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
