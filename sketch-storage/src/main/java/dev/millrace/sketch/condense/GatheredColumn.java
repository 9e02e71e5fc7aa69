package dev.millrace.sketch.condense;

import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** One column of rows that are gathered: the values of a feature, or of times. Not thread-safe. */
final class GatheredColumn {
    private final Field field;
    private long[] values = {}; // as bits of the type; of texts which one
    private boolean[] nulls = {};
    private byte[][] texts = {}; // of all sketches since rows were last taken
    private int textCount;
    private int firstText; // of the sketch at hand
    private long[] bits = {}; // of the sketch at hand, by rank
    private int nullRank;

    GatheredColumn(Field field) {
        this.field = field;
    }

    private boolean isText() {
        return field.type().fixedWidth() < 0;
    }

    /** Of this column of a sketch come the next ranks. */
    void begin(Column column) {
        nullRank = column.symbols().size();
        if (column.symbols() instanceof TextSymbols symbols) {
            firstText = textCount;
            int all = textCount + symbols.size();
            texts = all > texts.length ? Arrays.copyOf(texts, Math.max(all, 2 * texts.length)) : texts;
            byte[][] encoded = ArrowOutput.encoded(symbols);
            System.arraycopy(encoded, 0, texts, textCount, encoded.length);
            textCount = all;
        } else {
            bits = ArrowOutput.symbolBits(column.numbers(), field.type());
        }
    }

    void makeRoom(int rows) {
        values = Arrays.copyOf(values, rows);
        nulls = Arrays.copyOf(nulls, rows);
    }

    void putRank(int row, int rank) {
        nulls[row] = rank == nullRank;
        values[row] = nulls[row] ? 0 : isText() ? firstText + rank : bits[rank];
    }

    void putValue(int row, long value) {
        nulls[row] = false;
        values[row] = value;
    }

    int value(int row) {
        return (int) values[row];
    }

    /** Forgets all rows. */
    void clear() {
        Arrays.fill(texts, 0, textCount, null);
        textCount = 0;
    }

    /** Rows {@code from} to {@code to}, excluded, as a vector. */
    FieldVector vector(int from, int to, BufferAllocator allocator) {
        int count = to - from;
        long bytes = 0;
        for (int row = from; isText() && row < to; row++) {
            bytes += nulls[row] ? 0 : texts[(int) values[row]].length;
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
        if (isText()) {
            writeTexts(vector, from, to);
        } else {
            writeValues(vector.getDataBufferAddress(), from, to);
        }
        Vectors.setAllValid(vector, count);
        long validity = vector.getValidityBufferAddress();
        for (int row = from; row < to; row++) {
            if (nulls[row]) {
                Memory.clearBit(validity, row - from);
            }
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private void writeTexts(FieldVector vector, int from, int to) {
        long offsets = vector.getOffsetBufferAddress();
        long data = vector.getDataBufferAddress();
        int at = 0;
        for (int row = from; row < to; row++) {
            if (!nulls[row]) {
                byte[] text = texts[(int) values[row]];
                Memory.copyIn(text, 0, data + at, text.length);
                at += text.length;
            }
            Memory.putInt(offsets + 4L * (row - from + 1), at);
        }
    }

    private void writeValues(long data, int from, int to) {
        DataType type = field.type();
        switch (type.fixedWidth()) {
            case 8 -> {
                for (int row = from; row < to; row++) {
                    Memory.putLong(data + 8L * (row - from), values[row]);
                }
            }
            case 4 -> {
                for (int row = from; row < to; row++) {
                    Memory.putInt(data + 4L * (row - from), (int) values[row]);
                }
            }
            case 2 -> {
                for (int row = from; row < to; row++) {
                    Memory.putShort(data + 2L * (row - from), (short) values[row]);
                }
            }
            default -> {
                Memory.fill(data, (to - from + 7) >> 3, (byte) 0);
                for (int row = from; row < to; row++) {
                    if (values[row] != 0) {
                        Memory.setBit(data, row - from);
                    }
                }
            }
        }
    }
}
