package dev.millrace.expressions.user;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Closing;
import dev.millrace.nested.Images;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * A call of a function in Python in generated code, over the image of one row: where it may not be called for other rows, as in a CASE.
 * That costs a message to its process and back each time.
 */
public final class PythonRow implements AutoCloseable {
    /** Where the result is, when it is not NULL. */
    public long at;

    private final DataType arguments;
    private final DataType returns;
    private final PythonCall call;
    private final BufferAllocator allocator;
    private final VectorValues vectors;
    private final TextBuffer result;
    private final Object[] values;

    /** @param arguments the row of what it is given */
    public PythonRow(String key, DataType arguments, DataType returns, BufferAllocator allocator) {
        this.arguments = arguments;
        this.returns = returns;
        this.call = new PythonCall(key, allocator);
        this.allocator = allocator;
        this.values = new Object[arguments.fields().size()];
        this.vectors = new VectorValues(allocator);
        this.result = new TextBuffer(allocator, 64);
    }

    /** Calls it over the image of a row of arguments; false when the result is NULL. */
    public boolean call(long image, int length) {
        JavaValues.fields(arguments, image, values);
        List<FieldVector> columns = new ArrayList<>();
        try {
            for (int i = 0; i < values.length; i++) {
                Field field = arguments.fields().get(i);
                FieldVector column = ArrowTypes.arrowField(field).createVector(allocator);
                columns.add(column);
                column.allocateNew();
                vectors.write(column, field.type(), 0, values[i]);
                column.setValueCount(1);
            }
            try (FieldVector answer = call.call(columns, 1)) {
                result.clear();
                JavaValues.write(result, returns, vectors.read(answer, returns, 0));
            }
        } finally {
            Closing.all(columns);
        }
        at = result.address() + 1;
        return !Images.isNull(result.address());
    }

    /** Bytes of an array or row that was returned: there is none. */
    public int length(DataType type) {
        return (int) (Images.end(type, at) - at);
    }

    @Override
    public void close() {
        vectors.close();
        result.close();
    }
}
