package dev.millrace.connectors.whole;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.TimeFormats;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** The formats {@code raw} and {@code text}: each record is the value of the only column. */
public final class WholeRecordFormatFactory implements RecordFormatFactory {
    private final String name;
    private final boolean isText;

    private WholeRecordFormatFactory(String name, boolean isText) {
        this.name = name;
        this.isText = isText;
    }

    /** A column of type bytea, which has the bytes as they are. */
    public static WholeRecordFormatFactory raw() {
        return new WholeRecordFormatFactory("raw", false);
    }

    /** A column of any type, of which a record has the text form. */
    public static WholeRecordFormatFactory text() {
        return new WholeRecordFormatFactory("text", true);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        requireOneColumn(declared);
        Field only = declared.field(0);
        return new WholeRecordFormat(
                declared,
                isText,
                isText ? TimeFormats.read(options).of(only, options, "format " + name) : Optional.empty());
    }

    private void requireOneColumn(Schema schema) {
        if (schema.size() != 1) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "format " + name + " has one column, not " + schema.size())
                    .withHint("what a record has beside its value is a column by INCLUDE: (v "
                            + (isText ? "TEXT" : "BYTEA") + ") INCLUDE KEY AS k");
        }
        DataType type = schema.type(0);
        if (!isText && type.kind() != DataType.Kind.BYTEA || isText && type.isNested()) {
            throw MillraceException.user(
                            SqlState.DATATYPE_MISMATCH, "a column of format " + name + " cannot be of type " + type)
                    .withHint("bytes are of type bytea; format text reads any type but arrays and rows, from its text");
        }
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        return Schema.of(new Field("value", isText ? DataType.TEXT : DataType.BYTEA, false));
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        requireOneColumn(schema);
        DataType type = schema.type(0);
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                FieldVector values = batch.column(0);
                if (values.isNull(row)) {
                    throw MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION, "a NULL cannot be a record of format " + name);
                }
                if (isText) {
                    VectorText.value(into, type, values, row);
                } else {
                    long offsets = values.getOffsetBufferAddress() + 4L * row;
                    int from = Memory.getInt(offsets);
                    into.append(values.getDataBufferAddress() + from, Memory.getInt(offsets + 4) - from);
                }
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public List<OptionDescription> options() {
        return isText ? TimeFormats.DESCRIPTIONS : List.of();
    }
}
