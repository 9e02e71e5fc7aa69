package example;

import dev.millrace.batch.Batch;
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
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;

/** The format {@code hex}: a record is the only column, of type bytea, as hexadecimal digits. */
public final class HexFormatFactory implements RecordFormatFactory {
    @Override
    public String name() {
        return "hex";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        requireBytes(declared);
        return new Hex(declared);
    }

    private static void requireBytes(Schema schema) {
        if (schema.size() != 1 || !schema.type(0).equals(DataType.BYTEA)) {
            throw MillraceException.user(SqlState.INVALID_TABLE_DEFINITION, "format hex has one column, of type bytea");
        }
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        return Schema.of(new Field("value", DataType.BYTEA, true));
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        requireBytes(schema);
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                if (!batch.column(0).isNull(row)) {
                    into.appendAscii(HexFormat.of().formatHex(((VarBinaryVector) batch.column(0)).get(row)));
                }
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public List<OptionDescription> options() {
        return List.of();
    }

    private record Hex(Schema schema) implements RecordFormat {
        @Override
        public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
            return new Decoder(schema, !columns.isEmpty(), context);
        }
    }

    /** Which records are rejected does not depend on whether the column is asked for. */
    private record Decoder(Schema schema, boolean isAsked, DecoderContext context) implements RecordDecoder {
        @Override
        public Optional<DecodedRows> decode(EncodedRecords records) {
            VarBinaryVector vector =
                    (VarBinaryVector) Vectors.allocate(schema.field(0), records.count(), 0, context.allocator());
            try {
                int[] recordOf = new int[records.count()];
                int rows = 0;
                for (int record = 0; record < records.count(); record++) {
                    Optional<byte[]> value = value(records, record);
                    if (value.isPresent()) {
                        vector.setSafe(rows, value.get());
                        recordOf[rows++] = record;
                    }
                }
                vector.setValueCount(rows);
                if (!isAsked) {
                    vector.close();
                }
                List<FieldVector> columns = isAsked ? List.of(vector) : List.of();
                return Optional.of(
                        new DecodedRows(columns, rows, Optional.of(Arrays.copyOf(recordOf, rows)), Optional.empty()));
            } catch (RuntimeException | Error e) {
                vector.close();
                throw e;
            }
        }

        private Optional<byte[]> value(EncodedRecords records, int record) {
            if (records.isNull(record)) {
                context.reject(
                        record, "", MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "a record without a value"));
                return Optional.empty();
            }
            byte[] digits = new byte[records.to(record) - records.from(record)];
            Memory.copyOut(records.address() + records.from(record), digits, 0, digits.length);
            try {
                return Optional.of(HexFormat.of().parseHex(new String(digits, StandardCharsets.ISO_8859_1)));
            } catch (IllegalArgumentException e) {
                context.reject(
                        record,
                        schema.field(0).name(),
                        MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "no hexadecimal digits"));
                return Optional.empty();
            }
        }

        @Override
        public void close() {}
    }
}
