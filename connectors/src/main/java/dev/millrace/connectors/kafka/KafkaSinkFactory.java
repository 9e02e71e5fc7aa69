package dev.millrace.connectors.kafka;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.connectors.outbox.OutboxSink;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The sink {@code kafka}. */
public final class KafkaSinkFactory implements SinkFactory {
    /** What becomes of rows that are taken back. */
    enum Mode {
        APPEND,
        UPSERT
    }

    /** What readers may rely on after a crash. */
    enum Delivery {
        AT_LEAST_ONCE,
        EXACTLY_ONCE
    }

    /** What surrounds the rows in values. */
    enum Enveloped {
        NONE,
        DEBEZIUM
    }

    private final RecordFormats formats;

    /** @param formats that values can have */
    public KafkaSinkFactory(RecordFormats formats) {
        this.formats = formats;
    }

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        KafkaCluster cluster = KafkaCluster.read(options, KafkaCluster.producerProperties());
        String topic = TopicChoice.oneTopic(options);
        RecordKey key = RecordKey.read(schema, options);
        Mode mode = options.oneOf("mode", appendOnly ? Mode.APPEND : Mode.UPSERT);
        boolean exactlyOnce = options.oneOf("delivery", Delivery.AT_LEAST_ONCE) == Delivery.EXACTLY_ONCE;
        if (mode == Mode.UPSERT && key.columns().isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"key\" is required: " + (appendOnly ? "mode is upsert" : "rows are taken back"))
                    .withHint("key = 'a, b' names the columns that identify a row");
        }
        if (mode == Mode.APPEND && !appendOnly) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"mode\" cannot be \"append\": the query takes rows back")
                    .withHint("mode = 'upsert' with a key");
        }
        String format = options.text("format", "json").toLowerCase(Locale.ROOT);
        boolean isEnveloped = options.oneOf("envelope", Enveloped.NONE) == Enveloped.DEBEZIUM;
        boolean isPlainJson =
                format.equals("json") && options.text("compression", "none").equalsIgnoreCase("none");
        if (isEnveloped && !isPlainJson) {
            throw MillraceException.notAvailableYet(
                    "writing envelope debezium in a format other than json, not packed");
        }
        RecordEncoder encoder = formats.named(format).encoder(schema, options);
        RecordMaker maker = new RecordMaker(key, mode == Mode.UPSERT, isEnveloped, encoder);
        try {
            if (exactlyOnce) {
                Sink sink = outbox(cluster, topic, maker, options, context); // holds nothing yet
                options.rejectUnread();
                return sink;
            }
            options.rejectUnread();
            return new KafkaSink(cluster, topic, maker);
        } catch (RuntimeException | Error e) {
            maker.close();
            throw e;
        }
    }

    private static Sink outbox(
            KafkaCluster cluster, String topic, RecordMaker maker, Options options, SinkContext context) {
        String id = context.requireHome("delivery = 'exactly_once'").id();
        KafkaDelivery delivery =
                new KafkaDelivery(cluster, List.of(topic), id, bytes -> SpooledRecords.read(topic, bytes));
        return new OutboxSink(context, "topic " + topic, new SpooledRecords(maker), delivery, options);
    }

    @Override
    public List<OptionDescription> options() {
        return new ArrayList<>(List.of(
                new OptionDescription("bootstrap", "", "brokers to ask first: host:port, or several between commas"),
                new OptionDescription("topic", "", "where records go; it must be there"),
                new OptionDescription("format", "json", "of the values"),
                new OptionDescription(
                        "key",
                        "",
                        "columns of the record's key, between commas: of one column its text, of several a JSON object"),
                new OptionDescription(
                        "mode",
                        "append, or upsert where the query takes rows back",
                        "append: a record for each row; upsert: the last row of each key in an epoch, and a tombstone for a"
                                + " key that has none any more"),
                new OptionDescription(
                        "envelope",
                        "none",
                        "debezium: values say what happens to a row (before, after, op); of several changes in an epoch what"
                                + " becomes of them"),
                new OptionDescription(
                        "delivery",
                        "at_least_once",
                        "at_least_once: after a crash, records since the last checkpoint are written again; exactly_once:"
                                + " readers of committed records see each once, when a checkpoint has it"),
                new OptionDescription(
                        "outbox.limit_mb",
                        "1024",
                        "exactly_once: MB of records that wait on disk for the brokers, beyond which the query waits"),
                new OptionDescription(
                        "properties.<name>",
                        "Kafka's",
                        "any property of Kafka's producer, such as properties.compression.type")));
    }
}
