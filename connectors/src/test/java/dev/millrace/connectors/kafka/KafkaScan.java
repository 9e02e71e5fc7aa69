package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordFormats;
import dev.millrace.memory.Memory;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** Reads a Kafka source as the engine does, on the thread of a test; rows as text, columns joined by "|", NULL as "~". */
final class KafkaScan implements SourceContext, AutoCloseable {
    static final Schema SCHEMA =
            new Schema(List.of(new Field("id", DataType.BIGINT, true), new Field("ts", DataType.TIMESTAMP, true)));

    /** What ${secret:login} stands for. */
    private static final String LOGIN =
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=hunter2;";

    final List<RejectedRecord> rejected = Collections.synchronizedList(new ArrayList<>());
    final List<String> rows = new ArrayList<>();
    private final NumbersFormat format = new NumbersFormat();
    private final BufferAllocator allocator;
    private final boolean failing;
    private int batchRows = 4096;
    private Optional<EventTime> time = Optional.empty();
    private List<SourceReader> readers = List.of();

    KafkaScan(BufferAllocator allocator, boolean failing) {
        this.allocator = allocator;
        this.failing = failing;
    }

    KafkaScan batchRows(int rowsOfBatch) {
        batchRows = rowsOfBatch;
        return this;
    }

    KafkaScan byTime() {
        time = Optional.of(new EventTime(
                List.of(1),
                batch -> OptionalLong.empty(),
                batch -> IntStream.range(0, batch.rowCount())
                        .mapToLong(row -> Memory.getLong(batch.dataAddress(0) + 8L * row))
                        .max()));
        return this;
    }

    /** The next so many decodes come to nothing. */
    void unready(int decodes) {
        format.unready.set(decodes);
    }

    Source source(String bootstrap, String... options) {
        Map<String, String> map = new LinkedHashMap<>(Map.of("bootstrap", bootstrap, "format", "numbers"));
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        return new KafkaSourceFactory(new RecordFormats(List.of(format)))
                .create(SCHEMA, new Options(map, text -> text.replace("${secret:login}", LOGIN)));
    }

    private ScanRequest request(Source source, int parallelism) {
        return new ScanRequest(
                IntStream.range(0, source.schema().size()).boxed().toList(), List.of(), parallelism, time);
    }

    void open(Source source, int parallelism) {
        readers = source.open(request(source, parallelism), this);
    }

    List<SourceReader> readers() {
        return readers;
    }

    /** Gives the readers up, as a crash does, and opens others where they were. */
    void reopen(Source source) {
        List<SourcePosition> positions = readers.stream()
                .map(reader -> reader.position().orElseThrow())
                .map(position -> new SourcePosition(position.bytes()))
                .toList();
        close();
        readers = source.reopen(request(source, 1), positions, this);
    }

    /** One call of each reader; returns whether all are finished. */
    boolean poll() {
        boolean finished = true;
        for (SourceReader reader : readers) {
            Optional<Batch> polled = reader.poll();
            if (polled.isPresent()) {
                try (Batch batch = polled.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        rows.add(text(batch, row));
                    }
                }
            }
            finished &= polled.isEmpty() && reader.isFinished();
        }
        return finished;
    }

    private static String text(Batch batch, int row) {
        return String.join(
                "|",
                IntStream.range(0, batch.columnCount())
                        .mapToObj(column -> ValueText.format(batch, column, row).orElse("~"))
                        .toList());
    }

    /** To the end of a source that has one. */
    List<String> all() {
        Eventually.holds("the source ends", this::poll);
        return rows;
    }

    /** Until so many rows are there. */
    List<String> all(int count) {
        Eventually.holds(count + " rows of " + rows.size() + " are there", () -> {
            poll();
            return rows.size() >= count;
        });
        return rows;
    }

    /** Until one of the splits is so. */
    void untilSplit(String what, Predicate<SplitStatus> is) {
        Eventually.holds(what, () -> {
            poll();
            return splits().stream().anyMatch(is);
        });
    }

    List<SplitStatus> splits() {
        return readers.stream().flatMap(reader -> reader.splits().stream()).toList();
    }

    @Override
    public void close() {
        readers.forEach(SourceReader::close);
        readers = List.of();
    }

    @Override
    public BufferAllocator allocator() {
        return allocator;
    }

    @Override
    public Clock clock() {
        return Clock.system();
    }

    @Override
    public int batchRows() {
        return batchRows;
    }

    @Override
    public void wakeUp() {}

    @Override
    public void reject(RejectedRecord record) {
        if (failing) {
            throw MillraceException.user(record.sqlState(), record.reason());
        }
        rejected.add(record);
    }

    @Override
    public void report(RejectedRecord record) {
        rejected.add(record);
    }
}
