package dev.millrace.connectors.kafka;

import com.fasterxml.jackson.core.JsonFactory;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.text.Utf8Text;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Columns of what a record has beside its value, behind those of the format: INCLUDE KEY AS k, or {@code include.key = 'k'}. Immutable.
 */
record RecordColumns(List<Kind> kinds, List<Field> fields) {
    private static final JsonFactory JSON = new JsonFactory();

    /** What of a record. */
    enum Kind {
        KEY(DataType.TEXT, true),
        KEY_BYTES(DataType.BYTEA, true),
        TOPIC(DataType.TEXT, false),
        PARTITION(DataType.INTEGER, false),
        OFFSET(DataType.BIGINT, false),
        TIMESTAMP(DataType.TIMESTAMPTZ, false),
        HEADERS(DataType.JSONB, false);

        private final DataType type;
        private final boolean nullable;

        Kind(DataType type, boolean nullable) {
            this.type = type;
            this.nullable = nullable;
        }

        String option() {
            return "include." + name().toLowerCase(Locale.ROOT);
        }
    }

    RecordColumns {
        kinds = List.copyOf(kinds);
        fields = List.copyOf(fields);
    }

    static RecordColumns read(Options options) {
        List<Kind> kinds = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            options.text(kind.option()).ifPresent(name -> {
                kinds.add(kind);
                fields.add(new Field(name, kind.type, kind.nullable));
            });
        }
        return new RecordColumns(kinds, fields);
    }

    /** These columns behind others. */
    Schema behind(Schema payload) {
        List<Field> all = new ArrayList<>(payload.fields());
        for (Field field : fields) {
            if (new Schema(all).indexOf(field.name()) >= 0) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_COLUMN, "column \"" + field.name() + "\" specified more than once");
            }
            all.add(field);
        }
        return new Schema(all);
    }

    /** Why a record cannot have these columns, if it cannot. */
    Optional<MillraceException> refusal(ConsumerRecord<ByteBuffer, ByteBuffer> record) {
        if (kinds.contains(Kind.KEY) && record.key() != null) {
            try {
                Utf8Text.decode(record.key().duplicate());
            } catch (MillraceException e) {
                return Optional.of(e);
            }
        }
        return Optional.empty();
    }

    /** The column that {@link #refusal} speaks of. */
    String refusedColumn() {
        return fields.get(kinds.indexOf(Kind.KEY)).name();
    }

    /** A column of rows, given the record of each; the caller's. */
    FieldVector vector(
            int column, int rows, IntFunction<ConsumerRecord<ByteBuffer, ByteBuffer>> records, BufferAllocator memory) {
        Kind kind = kinds.get(column);
        FieldVector vector = Vectors.allocate(fields.get(column), rows, 16L * rows, memory);
        try {
            if (vector instanceof BaseVariableWidthVector variable) {
                fill(kind, variable, rows, records);
            } else {
                long data = vector.getDataBufferAddress();
                for (int row = 0; row < rows; row++) {
                    ConsumerRecord<ByteBuffer, ByteBuffer> record = records.apply(row);
                    switch (kind) {
                        case PARTITION -> Memory.putInt(data + 4L * row, record.partition());
                        case OFFSET -> Memory.putLong(data + 8L * row, record.offset());
                        default -> Memory.putLong(data + 8L * row, Math.multiplyExact(record.timestamp(), 1_000L));
                    }
                }
                Vectors.setAllValid(vector, rows);
            }
            Vectors.finish(vector, rows);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private static void fill(
            Kind kind,
            BaseVariableWidthVector vector,
            int rows,
            IntFunction<ConsumerRecord<ByteBuffer, ByteBuffer>> records) {
        int end = 0;
        for (int row = 0; row < rows; row++) {
            byte @Nullable [] bytes = bytes(kind, records.apply(row));
            if (bytes != null) {
                Vectors.growData(vector, end, (long) end + bytes.length + 8);
                Memory.copyIn(bytes, 0, vector.getDataBufferAddress() + end, bytes.length);
                Memory.setBit(vector.getValidityBufferAddress(), row);
                end = Math.addExact(end, bytes.length);
            }
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, end);
        }
    }

    private static byte @Nullable [] bytes(Kind kind, ConsumerRecord<ByteBuffer, ByteBuffer> record) {
        if (kind == Kind.TOPIC) {
            return record.topic().getBytes(StandardCharsets.UTF_8);
        }
        if (kind == Kind.HEADERS) {
            return headers(record).getBytes(StandardCharsets.UTF_8);
        }
        if (record.key() == null) {
            return null;
        }
        byte[] key = new byte[record.key().remaining()];
        record.key().duplicate().get(key);
        return key;
    }

    /** An object; values as text, what is no UTF-8 replaced; of several headers of one name the last. */
    private static String headers(ConsumerRecord<ByteBuffer, ByteBuffer> record) {
        StringWriter text = new StringWriter();
        try (var json = JSON.createGenerator(text)) {
            json.writeStartObject();
            for (Header header : record.headers()) {
                json.writeFieldName(header.key().replace("\0", "\ufffd"));
                if (header.value() == null) {
                    json.writeNull();
                } else {
                    json.writeString(new String(header.value(), StandardCharsets.UTF_8).replace('\0', '\ufffd'));
                }
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written", e);
        }
        return JsonNormalizer.normalize(text.toString());
    }
}
