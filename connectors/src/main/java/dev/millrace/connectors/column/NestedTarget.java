package dev.millrace.connectors.column;

import dev.millrace.batch.Closing;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A value as an image, which may be nested: an array, whose elements are put one after the other, or a row, whose fields are put in any
 * order. Made for one place and used again for every record.
 *
 * <pre>
 *   beginArray  ( put into element(), endElement )*
 *   beginRow    put into field(i) ..               endRow
 * </pre>
 */
public final class NestedTarget extends ValueTarget {
    private static final int FIXED_ROOM = 16;

    private final List<NestedTarget> children; // of an array its element, of a row its fields
    private final TextBuffer image;
    private boolean present;
    private int count;

    NestedTarget(DataType type, BufferAllocator allocator) {
        super(type, Optional.empty(), allocator);
        this.image = new TextBuffer(allocator, 64);
        List<NestedTarget> made = new ArrayList<>();
        for (Field field : type.fields()) {
            made.add(new NestedTarget(field.type(), allocator));
        }
        this.children = List.copyOf(made);
    }

    // ---- arrays and rows -------------------------------------------------------------------------------------------

    /** Begins an array, which is empty so far. */
    public void beginArray() {
        if (type().kind() != DataType.Kind.ARRAY) {
            throw mismatch("an array");
        }
        image.clear();
        ImageWriter.int32(image, 0);
        count = 0;
        present = true;
        element().putNull();
    }

    /** Where the next element is put; NULL if nothing is. */
    public NestedTarget element() {
        return children.get(0);
    }

    /** The element that was put is one of the array. */
    public void endElement() {
        element().appendTo(image);
        element().putNull();
        ImageWriter.patchInt32(image, 0, ++count);
    }

    /** Begins a row, whose fields are all NULL so far. */
    public void beginRow() {
        if (type().kind() != DataType.Kind.ROW) {
            throw mismatch("a record");
        }
        children.forEach(ValueTarget::putNull);
    }

    /** Where a field of a row is put. */
    public NestedTarget field(int number) {
        return children.get(number);
    }

    public void endRow() {
        image.clear();
        children.forEach(field -> field.appendTo(image));
        present = true;
    }

    private void appendTo(TextBuffer out) {
        if (present) {
            ImageWriter.some(out);
            ImageWriter.image(out, image.address(), (int) image.length());
        } else {
            ImageWriter.nothing(out);
        }
    }

    /** Whether there is a value, and not NULL. */
    boolean isPresent() {
        return present;
    }

    /** The bytes of the value that is there. */
    TextBuffer image() {
        return image;
    }

    // ---- what any value is -----------------------------------------------------------------------------------------

    @Override
    long place() {
        image.clear();
        return image.room(FIXED_ROOM);
    }

    @Override
    void placed() {
        image.end(image.address() + type().fixedWidth());
        normalizeFloats();
        present = true;
    }

    /** Equal values have equal images: no -0, one NaN. */
    private void normalizeFloats() {
        if (type().kind() == DataType.Kind.DOUBLE) {
            double value = Memory.getDouble(image.address());
            Memory.putLong(image.address(), Double.doubleToLongBits(value + 0.0));
        } else if (type().kind() == DataType.Kind.REAL) {
            float value = Memory.getFloat(image.address());
            Memory.putInt(image.address(), Float.floatToIntBits(value + 0.0f));
        }
    }

    @Override
    void placeBoolean(boolean value) {
        image.clear();
        ImageWriter.bool(image, value);
        present = true;
    }

    @Override
    TextBuffer writing() {
        image.clear();
        ImageWriter.int32(image, 0);
        return image;
    }

    @Override
    void written() {
        ImageWriter.patchInt32(image, 0, (int) image.length() - 4);
        present = true;
    }

    @Override
    public void putNull() {
        present = false;
    }

    @Override
    public NestedTarget nested() {
        return this;
    }

    @Override
    boolean failed() {
        return super.failed() || children.stream().anyMatch(NestedTarget::failed);
    }

    @Override
    void forgetFailure() {
        super.forgetFailure();
        children.forEach(NestedTarget::forgetFailure);
    }

    @Override
    public void close() {
        try {
            Closing.all(children);
        } finally {
            image.close();
            super.close();
        }
    }
}
