package dev.millrace.batch.text;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Columns as other programs read them in Arrow's IPC. Numbers of any size, which Arrow has none of, are their texts, also within arrays and
 * rows, as ADBC's driver for PostgreSQL has them; all else is as {@link DataType} tabulates. For one thread.
 */
public final class IpcColumns implements AutoCloseable {
    private static final int TEXT_BYTES = 64;

    private final List<FieldVector> columns = new ArrayList<>();
    private final List<FieldVector> made = new ArrayList<>();

    /**
     * Makes texts of what has no other form.
     *
     * @param vectors columns of the schema, which stay the caller's and are not closed before this
     * @param rows how many of their values
     */
    public IpcColumns(Schema schema, List<FieldVector> vectors, int rows) {
        try {
            for (int column = 0; column < vectors.size(); column++) {
                columns.add(shown(schema.field(column), vectors.get(column), rows));
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Arrow's schema of such columns. */
    public static org.apache.arrow.vector.types.pojo.Schema schema(Schema schema) {
        return ArrowTypes.arrowSchema(
                new Schema(schema.fields().stream().map(IpcColumns::shown).toList()));
    }

    /** The vectors, as long as this is open. */
    public List<FieldVector> columns() {
        return columns;
    }

    private static Field shown(Field field) {
        return new Field(field.name(), shown(field.type()), field.nullable());
    }

    private static DataType shown(DataType type) {
        if (type.kind() == DataType.Kind.BIGNUM) {
            return DataType.TEXT;
        }
        return type.isNested()
                ? new DataType(
                        type.kind(),
                        type.precision(),
                        type.scale(),
                        type.fields().stream().map(IpcColumns::shown).toList())
                : type;
    }

    private FieldVector shown(Field field, FieldVector from, int rows) {
        if (shown(field.type()).equals(field.type())) {
            return from;
        }
        BufferAllocator allocator = from.getAllocator();
        FieldVector to = ArrowTypes.arrowField(shown(field)).createVector(allocator);
        made.add(to);
        try (TextBuffer text = new TextBuffer(allocator, TEXT_BYTES)) {
            for (int row = 0; row < rows; row++) {
                copy(field.type(), from, row, to, row, text);
            }
        }
        to.setValueCount(rows);
        return to;
    }

    private static void copy(DataType type, FieldVector from, int row, FieldVector to, int toRow, TextBuffer text) {
        if (from.isNull(row) || shown(type).equals(type)) {
            NestedCopy.copy(from, row, to, toRow);
        } else if (to instanceof VarCharVector texts) {
            text.clear();
            VectorText.value(text, type, from, row);
            texts.setSafe(toRow, text.toBytes());
        } else if (to instanceof ListVector list) {
            copyList(type.element(), (ListVector) from, row, list, toRow, text);
        } else {
            StructVector target = (StructVector) to;
            target.setIndexDefined(toRow);
            for (int field = 0; field < type.fields().size(); field++) {
                FieldVector child = (FieldVector) ((StructVector) from).getChildByOrdinal(field);
                FieldVector targetChild = (FieldVector) target.getChildByOrdinal(field);
                copy(type.fields().get(field).type(), child, row, targetChild, toRow, text);
            }
        }
    }

    private static void copyList(
            DataType element, ListVector from, int row, ListVector to, int toRow, TextBuffer text) {
        int first = from.getElementStartIndex(row);
        int count = from.getElementEndIndex(row) - first;
        int at = to.startNewValue(toRow);
        for (int i = 0; i < count; i++) {
            copy(element, from.getDataVector(), first + i, to.getDataVector(), at + i, text);
        }
        to.endValue(toRow, count);
    }

    @Override
    public void close() {
        Closing.all(made);
    }
}
