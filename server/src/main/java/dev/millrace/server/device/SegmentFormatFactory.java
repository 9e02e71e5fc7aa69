package dev.millrace.server.device;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.kafka.KafkaTopics;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The format {@code sketch}: what streams of devices write to {@link SegmentTopics}. Found as a service. */
public final class SegmentFormatFactory implements RecordFormatFactory {
    private static final String NAME = "sketch";
    private static final String TOPIC_OF_BINS = "bins.topic";
    private static final long MEMORY_MB = 64;
    private static final long PATIENCE_MICROS = 10_000_000;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        if (options.text("bootstrap").isEmpty()) {
            throw MillraceException.notAvailableYet("format sketch of a connector other than kafka");
        }
        EdgeColumns columns = EdgeColumns.read(declared, options);
        Optional<String> segments = options.text("topic").filter(name -> !name.contains(","));
        String bins = options.text(TOPIC_OF_BINS)
                .or(() -> segments.map(name -> name + SegmentTopics.BINS))
                .orElseGet(() -> options.required(TOPIC_OF_BINS));
        long megabytes = options.integer("bins.memory_mb", MEMORY_MB, 1, 1 << 14);
        long patienceMicros = options.durationMicros("bins.timeout", PATIENCE_MICROS);
        KafkaTopics brokers = KafkaTopics.toRead(options);
        return new SegmentFormat(
                columns,
                new KnownBins(brokers, KafkaTopics.legal(TOPIC_OF_BINS, bins), megabytes << 20, patienceMicros));
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        for (int record = 0; record < sample.map(EncodedRecords::count).orElse(0); record++) {
            try {
                return ArrowOutput.schema(SegmentCodec.read(value(sample.get(), record), new Versions())
                        .schema());
            } catch (MillraceException e) {
                continue; // it refers to bins that are elsewhere: another one may be the first of its device
            }
        }
        throw MillraceException.user(
                        SqlState.INVALID_TABLE_DEFINITION, "no segment says what the columns of the stream are")
                .withHint("CREATE STREAM s (ts TIMESTAMP, temp DOUBLE PRECISION) WITH (..)");
    }

    /** The bytes of a record that has some. */
    static byte[] value(EncodedRecords records, int record) {
        if (records.isNull(record)) {
            throw MillraceException.user(SqlState.DATA_EXCEPTION, "the record has no value");
        }
        return bytes(records.address(), records.from(record), records.to(record));
    }

    static byte[] bytes(long address, int from, int to) {
        byte[] bytes = new byte[to - from];
        Memory.copyOut(address + from, bytes, 0, bytes.length);
        return bytes;
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        throw MillraceException.notAvailableYet("format sketch of a sink");
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(EdgeColumns.OPTIONS);
        all.add(new OptionDescription(
                TOPIC_OF_BINS, "topic and -bins", "sketch: the topic with the bins that segments refer to"));
        all.add(new OptionDescription(
                "bins.timeout",
                "10s",
                "sketch: how long a segment waits for bins that are not in their topic, as they may be in a copy; then it is"
                        + " rejected, as are others that need the same"));
        all.add(new OptionDescription(
                "bins.memory_mb",
                Long.toString(MEMORY_MB),
                "sketch: MB of bins that are known at once; those that were announced longest ago are forgotten"));
        return List.copyOf(all);
    }
}
