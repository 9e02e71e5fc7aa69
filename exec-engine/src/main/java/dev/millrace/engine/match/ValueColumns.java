package dev.millrace.engine.match;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Content;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Values of matches as columns of a batch, a row at a time: what conditions and outputs are computed from. Text goes where
 * the text before it ends; all else is written by its position.
 */
final class ValueColumns implements AutoCloseable {
    private static final int TEXT_BYTES_PER_ROW = 16; // to begin with

    private final List<MatchValue> values;
    private final int[] places; // by value: its symbol's in the mapping
    private final int[] accumulators; // by value: the mapping's, -1 where it is no aggregate of a column
    private final RowCodec codec;
    private final Schema schema;
    private final BufferAllocator allocator;
    private final int capacity;
    private final byte[][] names; // of variables
    private FieldVector[] vectors = new FieldVector[0];
    private long[] textBytes;
    private int count;

    ValueColumns(
            MatchSpec spec,
            List<MatchValue> values,
            Mapping like,
            RowCodec codec,
            int capacity,
            BufferAllocator allocator) {
        this.values = values;
        this.codec = codec;
        this.capacity = capacity;
        this.allocator = allocator;
        this.schema = schema(values);
        this.places = new int[values.size()];
        this.accumulators = new int[values.size()];
        this.textBytes = new long[values.size()];
        for (int i = 0; i < places.length; i++) {
            if (values.get(i) instanceof MatchValue.Navigation navigation) {
                places[i] = like.place(navigation.symbol());
            } else if (values.get(i) instanceof MatchValue.Aggregate aggregate) {
                places[i] = like.place(aggregate.symbol());
                accumulators[i] = aggregate.argument().isPresent() ? like.indexOf(aggregate) : -1;
            }
        }
        this.names = spec.symbols().stream()
                .map(symbol -> symbol.name().getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** A column for each value. */
    static Schema schema(List<MatchValue> values) {
        List<Field> fields = new ArrayList<>();
        for (MatchValue value : values) {
            fields.add(new Field("value" + fields.size(), value.type(), value.nullable()));
        }
        return new Schema(fields);
    }

    Schema schema() {
        return schema;
    }

    int count() {
        return count;
    }

    boolean isFull() {
        return count == capacity;
    }

    /**
     * Adds the values at a row.
     *
     * @param mapping of the rows so far, made for the same values as the one given at first
     * @param shown the row that is shown
     * @param number of the match; 0 for a row of no match
     */
    void add(Search search, Mapping mapping, int shown, long number) {
        if (vectors.length == 0 && !values.isEmpty()) {
            allocate();
        }
        for (int column = 0; column < vectors.length; column++) {
            put(column, values.get(column), search, mapping, shown, number);
        }
        count++;
    }

    private void allocate() {
        FieldVector[] allocated = new FieldVector[values.size()];
        try {
            for (int column = 0; column < allocated.length; column++) {
                Field field = schema.field(column);
                allocated[column] = Vectors.allocate(field, capacity, (long) TEXT_BYTES_PER_ROW * capacity, allocator);
                textBytes[column] = 0;
            }
        } catch (RuntimeException | Error e) {
            for (FieldVector vector : allocated) {
                if (vector != null) {
                    vector.close();
                }
            }
            throw e;
        }
        vectors = allocated;
    }

    private void put(int column, MatchValue value, Search search, Mapping mapping, int shown, long number) {
        if (value instanceof MatchValue.Navigation navigation) {
            putNavigation(column, navigation, search, mapping);
        } else if (value instanceof MatchValue.Shown of) {
            putColumn(column, of.index(), search.row(shown));
        } else if (value instanceof MatchValue.Aggregate aggregate) {
            putAggregate(column, aggregate, mapping);
        } else if (value instanceof MatchValue.Number) {
            setValid(column, number != 0);
            Memory.putLong(vectors[column].getDataBufferAddress() + 8L * count, number);
        } else {
            putBoolean(column, number != 0);
        }
    }

    private void putNavigation(int column, MatchValue.Navigation navigation, Search search, Mapping mapping) {
        int place = places[column];
        int size = mapping.size(place, navigation.whole());
        int index = navigation.last() ? size - 1 - navigation.steps() : navigation.steps();
        int position = index < 0 || index >= size ? -1 : mapping.position(place, index) + navigation.shift();
        boolean exists = position >= 0 && position < search.count();
        if (navigation.content() instanceof Content.Column of) {
            putColumn(column, of.column(), exists ? search.row(position) : 0);
        } else if (navigation.content() instanceof Content.Classifier) {
            int variable = exists ? search.variableAt(position) : -1;
            putName(column, variable);
        } else {
            putBoolean(column, exists);
        }
    }

    private void putAggregate(int column, MatchValue.Aggregate aggregate, Mapping mapping) {
        int size = mapping.size(places[column], aggregate.whole());
        if (accumulators[column] < 0) {
            putCount(column, size);
            return;
        }
        Accumulator accumulator = mapping.accumulator(accumulators[column]);
        if (aggregate.function() == Function.COUNT) {
            putCount(column, accumulator.count(size));
        } else if (accumulator.isRow()) {
            putColumn(column, aggregate.argument().getAsInt(), accumulator.row(size));
        } else {
            boolean some = accumulator.count(size) > 0;
            setValid(column, some);
            if (aggregate.type().kind() == DataType.Kind.BIGNUM) {
                byte[] number = some ? accumulator.number(size).toBytes() : new byte[0];
                Memory.copyIn(number, 0, textRoom(column, number.length), number.length);
            } else if (some) {
                int width = aggregate.type().fixedWidth();
                accumulator.write(size, vectors[column].getDataBufferAddress() + (long) width * count);
            }
        }
    }

    private void putCount(int column, long rows) {
        setValid(column, true);
        Memory.putLong(vectors[column].getDataBufferAddress() + 8L * count, rows);
    }

    private void setValid(int column, boolean valid) {
        long validity = vectors[column].getValidityBufferAddress();
        if (valid) {
            Memory.setBit(validity, count);
        } else {
            Memory.clearBit(validity, count);
        }
    }

    private void putBoolean(int column, boolean value) {
        setValid(column, true);
        long data = vectors[column].getDataBufferAddress();
        if (value) {
            Memory.setBit(data, count);
        } else {
            Memory.clearBit(data, count);
        }
    }

    private void putName(int column, int variable) {
        setValid(column, variable >= 0);
        byte[] name = variable >= 0 ? names[variable] : new byte[0];
        long at = textRoom(column, name.length);
        Memory.copyIn(name, 0, at, name.length);
    }

    /** Where text of so many bytes goes, which then ends there. */
    private long textRoom(int column, int length) {
        BaseVariableWidthVector vector = (BaseVariableWidthVector) vectors[column];
        long start = textBytes[column];
        Vectors.growData(vector, start, start + length);
        textBytes[column] = start + length;
        Memory.putInt(vector.getOffsetBufferAddress() + 4L * count + 4, (int) (start + length));
        return vector.getDataBufferAddress() + start;
    }

    /** A column's value of a row, NULL if the row is 0. */
    private void putColumn(int column, int from, long row) {
        DataType type = codec.type(from);
        if (type.isNested()) {
            putNested(column, from, row);
            return;
        }
        boolean valid = row != 0 && !RowCodec.isNull(row, from);
        setValid(column, valid);
        if (type.fixedWidth() < 0) {
            long slot = row + codec.slot(from);
            int length = valid ? Memory.getInt(slot + 4) : 0;
            long at = textRoom(column, length);
            if (length > 0) {
                Memory.copy(row + Memory.getInt(slot), at, length);
            }
            return;
        }
        if (!valid) {
            return;
        }
        long slot = row + codec.slot(from);
        long data = vectors[column].getDataBufferAddress();
        switch (type.kind()) {
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ, DOUBLE ->
                Memory.putLong(data + 8L * count, Memory.getLong(slot));
            case INTEGER, DATE -> Memory.putInt(data + 4L * count, (int) Memory.getLong(slot));
            case SMALLINT -> Memory.putShort(data + 2L * count, (short) Memory.getLong(slot));
            case REAL -> Memory.putFloat(data + 4L * count, (float) Memory.getDouble(slot));
            case BOOLEAN -> putBoolean(column, Memory.getLong(slot) != 0);
            case NUMERIC, INTERVAL, UUID -> {
                Memory.putLong(data + 16L * count, Memory.getLong(slot));
                Memory.putLong(data + 16L * count + 8, Memory.getLong(slot + 8));
            }
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW, NULL ->
                throw new IllegalArgumentException(type + " is of no fixed width");
        }
    }

    private void putNested(int column, int from, long row) {
        if (row == 0) {
            vectors[column].setNull(count);
            return;
        }
        try (FieldVector one = codec.decode(from, schema.field(column), new long[] {row}, 1, allocator)) {
            NestedCopy.copy(one, 0, vectors[column], count);
        }
    }

    /** The rows added, which are the caller's now. Only if there are some. */
    Batch take() {
        FieldVector[] taken = vectors;
        for (FieldVector vector : taken) {
            Vectors.finish(vector, count);
        }
        Batch batch = Batch.of(schema, taken, count);
        vectors = new FieldVector[0];
        count = 0;
        return batch;
    }

    /** One row's values, valid until the next call: the vectors are used again. */
    Batch single(Search search, Mapping mapping, int shown) {
        count = 0;
        for (int column = 0; column < vectors.length; column++) {
            textBytes[column] = 0;
        }
        add(search, mapping, shown, 1);
        for (FieldVector vector : vectors) {
            Vectors.finish(vector, 1);
        }
        count = 0;
        return Batch.view(schema, vectors, 1, Optional.empty(), List.of());
    }

    @Override
    public void close() {
        List<FieldVector> left = List.of(vectors);
        vectors = new FieldVector[0];
        count = 0;
        Closing.all(left);
    }
}
