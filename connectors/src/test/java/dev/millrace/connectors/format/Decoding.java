package dev.millrace.connectors.format;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.memory.Memory;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Decodes records as a transport would, for tests: rows as text, what is rejected and noted as it is. */
public final class Decoding implements DecoderContext {
    public final List<String> rejected = new ArrayList<>();
    public final List<String> notes = new ArrayList<>();
    public final AtomicInteger wakeUps = new AtomicInteger();
    private final BufferAllocator allocator;

    public Decoding(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** All rows, fields joined by "|", NULL as "~"; one with a weight that is not 1 has it in front: "-1:a|b". */
    public List<String> rows(RecordFormat format, byte[]... records) {
        List<Integer> all = IntStream.range(0, format.schema().size()).boxed().toList();
        try (RecordDecoder decoder = format.decoder(all, this)) {
            return rows(decoder, format.schema(), records).orElseThrow();
        }
    }

    /** The same by a decoder, of a schema's columns; empty if it waits. A null record is one without a value. */
    public Optional<List<String>> rows(RecordDecoder decoder, Schema schema, byte[]... records) {
        return decoded(decoder, rows -> texts(rows, schema), records);
    }

    /** The same, when what the decoder waits for is there. */
    public List<String> rowsWhenThere(RecordDecoder decoder, Schema schema, byte[]... records) {
        List<List<String>> decoded = new ArrayList<>();
        Eventually.holds("what the decoder waits for is there", () -> {
            rows(decoder, schema, records).ifPresent(decoded::add);
            return !decoded.isEmpty();
        });
        return decoded.get(0);
    }

    /** The values of all rows; empty if it waits. */
    public Optional<List<Row>> cells(RecordDecoder decoder, Schema schema, byte[]... records) {
        return decoded(
                decoder,
                rows -> {
                    try (Batch batch = Batch.of(schema, rows.columns().toArray(FieldVector[]::new), rows.rows())) {
                        return TestBatches.rows(batch);
                    }
                },
                records);
    }

    private <T> Optional<T> decoded(RecordDecoder decoder, Function<DecodedRows, T> made, byte[]... records) {
        int length = 0;
        for (byte[] record : records) {
            length += record == null ? 0 : record.length;
        }
        EncodedRecords encoded = new EncodedRecords();
        try (ArrowBuf buffer = allocator.buffer(length + EncodedRecords.SLACK_BYTES)) {
            int at = 0;
            for (int i = 0; i < records.length; i++) {
                if (records[i] == null) {
                    encoded.add(-1, -1, i);
                    continue;
                }
                Memory.copyIn(records[i], 0, buffer.memoryAddress() + at, records[i].length);
                encoded.add(at, at + records[i].length, i);
                at += records[i].length;
            }
            encoded.place(buffer.memoryAddress(), length);
            return decoder.decode(encoded).map(made);
        }
    }

    private static List<String> texts(DecodedRows rows, Schema schema) {
        List<String> texts = new ArrayList<>();
        try (Batch batch = Batch.of(schema, rows.columns().toArray(FieldVector[]::new), rows.rows())) {
            for (int row = 0; row < rows.rows(); row++) {
                List<String> values = new ArrayList<>();
                for (int column = 0; column < batch.columnCount(); column++) {
                    values.add(ValueText.format(batch, column, row).orElse("~"));
                }
                long weight = rows.weights().isPresent() ? rows.weights().get()[row] : 1;
                texts.add((weight == 1 ? "" : weight + ":") + String.join("|", values));
            }
        }
        return texts;
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
    public void reject(int record, String column, MillraceException reason) {
        rejected.add(record + " " + column + " " + reason.sqlState().code() + " " + reason.getMessage());
    }

    @Override
    public void note(String text) {
        notes.add(text);
    }

    @Override
    public void wakeUp() {
        wakeUps.incrementAndGet();
    }
}
