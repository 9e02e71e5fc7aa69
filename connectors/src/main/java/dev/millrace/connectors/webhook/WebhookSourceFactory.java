package dev.millrace.connectors.webhook;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Locale;

/** The source {@code webhook}. */
public final class WebhookSourceFactory implements SourceFactory {
    private static final String JSON = "json";
    private static final long KEYS = 10_000;
    private static final long MOST_KEYS = 1_000_000;
    private static final long TIMEOUT_MICROS = 30_000_000;
    private static final long MOST_TIMEOUT_MICROS = 600_000_000;
    private static final long MICROS_PER_MILLI = 1_000;

    private final RecordFormats formats;
    private final Webhooks webhooks;

    /**
     * @param formats that records can have
     * @param webhooks where the server finds those that there are
     */
    public WebhookSourceFactory(RecordFormats formats, Webhooks webhooks) {
        this.formats = formats;
        this.webhooks = webhooks;
    }

    @Override
    public String name() {
        return "webhook";
    }

    @Override
    public Source create(Schema declared, Options options) {
        String path = options.required("path").replaceFirst("^" + WebhookSource.PREFIX, "");
        if (!path.matches("[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*") || path.length() > 200) {
            throw Options.invalid("path", path, "letters, digits and ._~-, in parts between slashes");
        }
        long timeoutMicros = options.durationMicros("timeout", TIMEOUT_MICROS);
        if (timeoutMicros < MICROS_PER_MILLI || timeoutMicros > MOST_TIMEOUT_MICROS) {
            throw Options.invalid("timeout", options.text("timeout", ""), "from 1ms to 10 min");
        }
        return new WebhookSource(
                webhooks,
                path,
                PushedRecords.read(name(), formats, JSON, declared, options, PostedRequest.About.COLUMNS),
                options.text("format", JSON).equalsIgnoreCase(JSON),
                BodySignature.read(options),
                options.text("idempotency.header", "idempotency-key").toLowerCase(Locale.ROOT),
                (int) options.integer("idempotency.keys", KEYS, 1, MOST_KEYS),
                timeoutMicros / MICROS_PER_MILLI,
                ArrivalQueue.readBytes(options));
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("path", "", "of the HTTP port, behind " + WebhookSource.PREFIX),
                new OptionDescription("format", JSON, "of the records"),
                new OptionDescription(
                        "signature.secret",
                        "",
                        "a reference such as ${secret:name}: requests have a header with the HMAC-SHA256 of their body under"
                                + " it, in hexadecimal digits or Base64. Without it they need a role that may INSERT"),
                new OptionDescription("signature.header", "x-hub-signature-256", "which header"),
                new OptionDescription(
                        "idempotency.header",
                        "idempotency-key",
                        "a header by whose value a request is known that comes again: it is answered, and not taken"),
                new OptionDescription("idempotency.keys", "10000", "how many of its newest values are remembered"),
                new OptionDescription(
                        "timeout", "30s", "how long a request waits until its records are kept; then 503"),
                ArrivalQueue.description(),
                new OptionDescription("include.key", "", "a column of that name with the idempotency key"),
                new OptionDescription("include.received", "", "with the time at which the request came"));
    }
}
