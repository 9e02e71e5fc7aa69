package dev.millrace.connectors.senml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.json.JsonStrings;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** The format {@code senml}: a pack of measurements per record. */
public final class SenmlRecordFormatFactory implements RecordFormatFactory {
    @Override
    public String name() {
        return "senml";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        return new SenmlRecordFormat(declared, fields(declared));
    }

    private static List<SenmlField> fields(Schema columns) {
        List<SenmlField> fields = new ArrayList<>();
        for (Field column : columns.fields()) {
            fields.add(SenmlField.named(column.name())
                    .orElseThrow(() -> MillraceException.user(
                                    SqlState.UNDEFINED_COLUMN,
                                    "column \"" + column.name() + "\" is no field of format senml")
                            .withHint("there are: " + String.join(", ", SenmlField.names()))));
        }
        return fields;
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        return SenmlField.columns();
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        List<SenmlField> fields = fields(schema);
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                into.appendAscii("[{");
                boolean first = true;
                for (int column = 0; column < fields.size(); column++) {
                    if (!batch.column(column).isNull(row)) {
                        into.appendAscii(
                                (first ? "\"" : ",\"") + fields.get(column).label() + "\":");
                        first = false;
                        value(into, fields.get(column), schema.type(column), batch.column(column), row);
                    }
                }
                into.appendAscii("}]");
            }

            @Override
            public void close() {}
        };
    }

    private static void value(TextBuffer out, SenmlField field, DataType type, FieldVector vector, int row) {
        long start = out.length();
        if (field == SenmlField.TIME && type.isTimestamp()) {
            ValueWriter.numeric(out, sign(vector, row), Memory.getLong(vector.getDataBufferAddress() + 8L * row), 6);
        } else if (field == SenmlField.BOOLEAN && type.kind() == DataType.Kind.BOOLEAN) {
            out.appendAscii(Memory.getBit(vector.getDataBufferAddress(), row) ? "true" : "false");
        } else if (type.kind() == DataType.Kind.BYTEA) {
            long offsets = vector.getOffsetBufferAddress() + 4L * row;
            byte[] bytes = new byte[Memory.getInt(offsets + 4) - Memory.getInt(offsets)];
            Memory.copyOut(vector.getDataBufferAddress() + Memory.getInt(offsets), bytes, 0, bytes.length);
            out.append(Base64.getUrlEncoder().withoutPadding().encode(bytes));
            JsonStrings.quoteFrom(out, start);
        } else {
            VectorText.value(out, type, vector, row);
            if (!type.isNumber()) {
                JsonStrings.quoteFrom(out, start);
            } else if (new String(out.toBytes(), (int) start, (int) (out.length() - start), StandardCharsets.US_ASCII)
                    .matches("NaN|-?Infinity")) {
                throw MillraceException.user(
                        SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "SenML has numbers, and neither NaN nor infinity");
            }
        }
    }

    private static long sign(FieldVector vector, int row) {
        return Memory.getLong(vector.getDataBufferAddress() + 8L * row) >> 63;
    }

    @Override
    public List<OptionDescription> options() {
        return List.of();
    }
}
