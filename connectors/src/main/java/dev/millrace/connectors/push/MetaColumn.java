package dev.millrace.connectors.push;

import dev.millrace.batch.Vectors;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * A column of what comes with records beside their values, behind the columns of the format: INCLUDE TOPIC AS t, or {@code include.topic =
 * 't'}. Immutable.
 *
 * @param value of what came with a record ({@link Consignment#about}): TEXT and JSONB String, INTEGER Integer, BOOLEAN Boolean, TIMESTAMPTZ Long
 *     in microseconds
 */
public record MetaColumn(Field field, Function<Object, Optional<?>> value) {
    private static final char REPLACEMENT = '\ufffd';

    /** What a transport knows, by the name of the option behind {@code include.}. */
    public record Kind(String name, DataType type, boolean nullable, Function<Object, Optional<?>> value) {
        public String option() {
            return "include." + name;
        }
    }

    /** Those of the kinds that options ask for. */
    public static List<MetaColumn> read(Options options, List<Kind> kinds) {
        List<MetaColumn> columns = new ArrayList<>();
        for (Kind kind : kinds) {
            options.text(kind.option())
                    .ifPresent(name ->
                            columns.add(new MetaColumn(new Field(name, kind.type(), kind.nullable()), kind.value())));
        }
        return List.copyOf(columns);
    }

    /** These columns behind others. */
    public static Schema behind(Schema payload, List<MetaColumn> columns) {
        List<Field> all = new ArrayList<>(payload.fields());
        for (MetaColumn column : columns) {
            if (new Schema(all).indexOf(column.field().name()) >= 0) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_COLUMN, "column \"" + column.field().name() + "\" specified more than once");
            }
            all.add(column.field());
        }
        return new Schema(all);
    }

    /** The column of rows, given what came with each; the caller's. */
    public FieldVector vector(int rows, IntFunction<Object> about, BufferAllocator memory) {
        FieldVector vector = Vectors.allocate(field, rows, 16L * rows, memory);
        try {
            int end = 0;
            for (int row = 0; row < rows; row++) {
                Optional<?> found = value.apply(about.apply(row));
                if (vector instanceof BaseVariableWidthVector variable) {
                    byte[] bytes = found.map(this::bytes).orElse(new byte[0]);
                    Vectors.growData(variable, end, (long) end + bytes.length + 8);
                    Memory.copyIn(bytes, 0, vector.getDataBufferAddress() + end, bytes.length);
                    end = Math.addExact(end, bytes.length);
                    Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, end);
                } else {
                    fixed(vector.getDataBufferAddress(), row, found);
                }
                if (found.isPresent()) {
                    Memory.setBit(vector.getValidityBufferAddress(), row);
                }
            }
            Vectors.finish(vector, rows);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private static void fixed(long data, int row, Optional<?> found) {
        if (found.isEmpty()) {
            return;
        }
        Object given = found.get();
        if (given instanceof Boolean is) {
            if (is) {
                Memory.setBit(data, row);
            } else {
                Memory.clearBit(data, row); // where there is whatever was there before
            }
        } else if (given instanceof Integer number) {
            Memory.putInt(data + 4L * row, number);
        } else {
            Memory.putLong(data + 8L * row, (Long) given);
        }
    }

    private byte[] bytes(Object given) {
        String text = ((String) given).replace('\0', REPLACEMENT);
        return (field.type().equals(DataType.JSONB) ? JsonNormalizer.normalize(text) : text)
                .getBytes(StandardCharsets.UTF_8);
    }
}
