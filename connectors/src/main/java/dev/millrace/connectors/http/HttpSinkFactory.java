package dev.millrace.connectors.http;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.connector.SinkHome;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** The sink {@code http}. */
public final class HttpSinkFactory implements SinkFactory {
    private static final String HEADER = "header.";
    private static final List<String> SECRETS =
            List.of("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key");
    private static final long ROWS = 1_000;
    private static final long MOST_ROWS = 100_000;
    private static final long ANSWER_MICROS = 60_000_000;
    private static final long TIMEOUT_MICROS = 300_000_000;
    private static final long LEAST_TIMEOUT_MICROS = 1_000;
    private static final long MICROS_PER_MILLI = 1_000;

    private final RecordFormats formats;

    /** @param formats that records can have */
    public HttpSinkFactory(RecordFormats formats) {
        this.formats = formats;
    }

    @Override
    public String name() {
        return "http";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        if (!appendOnly) {
            throw MillraceException.notAvailableYet("a sink of connector http for rows that are taken back")
                    .withHint("windows with EMIT FINAL take none back");
        }
        String url = options.required("url");
        if (!url.matches("(?i)https?://.+|.*\\$\\{.*")) {
            throw Options.invalid("url", url, "http://.. or https://..");
        }
        Map<String, String> headers = new TreeMap<>();
        for (String name : List.copyOf(options.names())) {
            if (name.startsWith(HEADER)) {
                headers.put(
                        name.substring(HEADER.length()).toLowerCase(Locale.ROOT),
                        options.text(name).orElseThrow());
            }
        }
        headers.forEach((name, value) -> {
            if (SECRETS.contains(name) || Options.OpenSecret.isNamed(name)) {
                Options.OpenSecret.refuse(HEADER + name, value);
            }
        });
        Options.OpenSecret.refuseInAddress("url", url);
        String format = options.text("format", "json").toLowerCase(Locale.ROOT);
        long answerMillis = millis(options, "answer_timeout", ANSWER_MICROS);
        long timeoutMillis = millis(options, "timeout", TIMEOUT_MICROS);
        int rows = (int) options.integer("max_batch_rows", ROWS, 1, MOST_ROWS);
        String key = context.home().map(SinkHome::id).orElseGet(() -> "millrace-" + UUID.randomUUID());
        RecordEncoder encoder = formats.named(format).encoder(schema, options);
        try {
            options.rejectUnread();
            String type = format.equals("json") ? "application/x-ndjson" : format.equals("csv") ? "text/csv" : "";
            return new HttpSink(
                    new HttpSink.Target(
                            url,
                            headers,
                            type.isEmpty() ? "application/octet-stream" : type,
                            options.references(),
                            Math.min(answerMillis, timeoutMillis),
                            timeoutMillis),
                    key,
                    rows,
                    encoder,
                    context.allocator());
        } catch (RuntimeException | Error e) {
            encoder.close();
            throw e;
        }
    }

    private static long millis(Options options, String name, long defaultMicros) {
        long micros = options.durationMicros(name, defaultMicros);
        if (micros < LEAST_TIMEOUT_MICROS) {
            throw Options.invalid(name, options.text(name, ""), "1ms at least");
        }
        return micros / MICROS_PER_MILLI;
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("url", "", "where rows are POSTed to"),
                new OptionDescription("format", "json", "of the rows, of which each is a line of the body"),
                new OptionDescription("max_batch_rows", "1000", "of one request"),
                new OptionDescription("header.<name>", "", "a header of each request; secrets by reference"),
                new OptionDescription(
                        "answer_timeout",
                        "60s",
                        "how long one try may take, to the end of its answer, before its connection is given up"),
                new OptionDescription(
                        "timeout",
                        "5 min",
                        "how long a request is tried again, later and later, before the sink fails"));
    }
}
