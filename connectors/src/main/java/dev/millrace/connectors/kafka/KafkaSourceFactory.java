package dev.millrace.connectors.kafka;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.envelope.Envelope;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The source {@code kafka}. */
public final class KafkaSourceFactory implements SourceFactory {
    private static final long LOOK_MICROS = 30_000_000;
    private static final long LEAST_LOOK_MICROS = 100_000;

    /** When reading ends. */
    enum Mode {
        FOLLOW,
        ONCE
    }

    /** Which records are seen. */
    enum Isolation {
        READ_COMMITTED,
        READ_UNCOMMITTED
    }

    private final RecordFormats formats;

    /** @param formats that values can have */
    public KafkaSourceFactory(RecordFormats formats) {
        this.formats = formats;
    }

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public Source create(Schema declared, Options options) {
        Envelope.refuseInStream(options);
        return create(
                declared, options, formats.named(options.text("format", "json").toLowerCase(Locale.ROOT)));
    }

    /** The source of topics whose values have a format that is known. */
    static Source create(Schema declared, Options options, RecordFormatFactory formatFactory) {
        KafkaCluster cluster = KafkaCluster.read(options, KafkaCluster.consumerProperties());
        TopicChoice topics = TopicChoice.read(options);
        StartingPoint start = StartingPoint.read(options);
        RecordColumns columns = RecordColumns.read(options);
        Mode mode = options.oneOf("mode", Mode.FOLLOW);
        Isolation isolation = options.oneOf("isolation", Isolation.READ_COMMITTED);
        KafkaSource.Expired expired = options.oneOf("expired", KafkaSource.Expired.EARLIEST);
        long idleMicros = options.durationMicros("watermark.idle_timeout", 0);
        long lookMicros = options.durationMicros("discovery.interval", LOOK_MICROS);
        if (lookMicros < LEAST_LOOK_MICROS) {
            throw Options.invalid("discovery.interval", options.text("discovery.interval", ""), "100ms at least");
        }
        boolean readCommitted = isolation == Isolation.READ_COMMITTED;
        boolean isInferred = declared.size() == 0;
        Schema payload =
                isInferred ? KafkaSample.columns(cluster, topics, readCommitted, formatFactory, options) : declared;
        RecordFormat format = formatFactory.create(payload, options);
        options.rejectUnread();
        return new KafkaSource(
                cluster,
                topics,
                format,
                columns,
                columns.behind(format.schema()),
                start,
                isInferred,
                mode == Mode.ONCE,
                readCommitted,
                expired,
                idleMicros,
                Math.multiplyExact(1_000L, Math.min(lookMicros, Long.MAX_VALUE / 1_000)));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(List.of(
                new OptionDescription("bootstrap", "", "brokers to ask first: host:port, or several between commas"),
                new OptionDescription("topic", "", "a topic, or several between commas"),
                new OptionDescription(
                        "topic.pattern",
                        "",
                        "instead of topic: a regular expression; topics that come later are read, too"),
                new OptionDescription("format", "json", "of the values"),
                new OptionDescription(
                        "start",
                        "earliest",
                        "where a query begins that was not there before: earliest, latest, a time (UTC), or offsets such as"
                                + " 0=42,1=17; partitions that come later are read from their beginning"),
                new OptionDescription(
                        "mode", "follow", "follow: goes on for ever; once: ends with the records that are there"),
                new OptionDescription(
                        "isolation",
                        "read_committed",
                        "read_committed: no records of transactions that are open or were aborted; read_uncommitted: all"),
                new OptionDescription(
                        "expired",
                        "earliest",
                        "where to go on when the next records were removed before they were read: earliest, latest, or wait;"
                                + " what is lost is in millrace.rejected_rows"),
                new OptionDescription("discovery.interval", "30s", "between two looks for new partitions and topics"),
                new OptionDescription(
                        "properties.<name>",
                        "Kafka's",
                        "any property of Kafka's consumer, such as properties.sasl.mechanism")));
        for (RecordColumns.Kind kind : RecordColumns.Kind.values()) {
            all.add(new OptionDescription(
                    kind.option(),
                    "",
                    "a column of that name with the "
                            + kind.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " of the record; or INCLUDE "
                            + kind.name().replace('_', ' ') + " AS name"));
        }
        return List.copyOf(all);
    }
}
