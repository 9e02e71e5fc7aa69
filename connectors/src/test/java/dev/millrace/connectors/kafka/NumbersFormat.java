package dev.millrace.connectors.kafka;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.vector.FieldVector;

/** A format for tests of a transport: whole numbers between commas, one per column. {@code unready} decodes come to nothing at first. */
final class NumbersFormat implements RecordFormatFactory {
    final AtomicInteger unready = new AtomicInteger();

    @Override
    public String name() {
        return "numbers";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        return new RecordFormat() {
            @Override
            public Schema schema() {
                return declared;
            }

            @Override
            public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
                return new Decoder(declared, columns, context);
            }
        };
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        throw new UnsupportedOperationException();
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<OptionDescription> options() {
        return List.of();
    }

    private final class Decoder implements RecordDecoder {
        private final Schema schema;
        private final List<Integer> columns;
        private final DecoderContext context;

        Decoder(Schema schema, List<Integer> columns, DecoderContext context) {
            this.schema = schema;
            this.columns = columns;
            this.context = context;
        }

        @Override
        public Optional<DecodedRows> decode(EncodedRecords records) {
            if (unready.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                return Optional.empty();
            }
            List<FieldVector> vectors = new ArrayList<>();
            int[] kept = new int[records.count()];
            int rows = 0;
            try {
                for (int column : columns) {
                    vectors.add(Vectors.allocate(schema.field(column), records.count(), 0, context.allocator()));
                }
                for (int record = 0; record < records.count(); record++) {
                    byte[] bytes = new byte[records.isNull(record) ? 0 : records.to(record) - records.from(record)];
                    Memory.copyOut(records.address() + records.from(record), bytes, 0, bytes.length);
                    String[] numbers = new String(bytes, StandardCharsets.UTF_8).split(",");
                    try {
                        for (int i = 0; i < vectors.size(); i++) {
                            Memory.putLong(
                                    vectors.get(i).getDataBufferAddress() + 8L * rows,
                                    Long.parseLong(numbers[columns.get(i)]));
                        }
                        kept[rows++] = record;
                    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
                        context.reject(record, "", MillraceException.user(SqlState.DATA_EXCEPTION, "no numbers"));
                    }
                }
                for (FieldVector vector : vectors) {
                    Vectors.setAllValid(vector, rows);
                    Vectors.finish(vector, rows);
                }
                return Optional.of(new DecodedRows(vectors, rows, Optional.of(kept), Optional.empty()));
            } catch (RuntimeException | Error e) {
                Closing.all(vectors);
                throw e;
            }
        }

        @Override
        public void close() {}
    }
}
