package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.function.bytes.Bytes;
import dev.millrace.nested.NestedCodec;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows in as few bytes as are quick to read, for state that keeps many of them: values at their own width, bits for NULLs
 * only where there may be some, and of texts that many rows share a number in the codec's dictionary. What such a row is
 * called can change from one codec to the next, and equal rows may differ as bytes: {@link #unpack} tells their rows of a
 * {@link RowCodec}, which do not. Where the values lie says {@link PackedLayout}.
 *
 * Rows are read from a batch after {@link #prepare}.
 */
public final class PackedCodec implements RowReader, AutoCloseable {
    private static final int LONG = PackedLayout.LONG;
    private static final int NUMBERED = PackedLayout.NUMBERED;

    private final Schema schema;
    private final RowCodec plain; // of the same columns
    private final PackedLayout layout;
    private final int[] slots; // these are its, for short
    private final int[] nullBits;
    private final int[] fixed;
    private final int[] widths;
    private final int[] texts;
    private final int[] columns; // of a batch, for each of the schema
    private final int nullsAt;
    private final int marksAt;
    private final int textsAt;
    private final TextDictionary[] dictionaries; // per text
    private final NestedImages images;
    private final NestedCodec nested = new NestedCodec();
    private final StateMemory scratch;

    // The batch at hand
    private final long[] data; // by position in fixed, texts
    private final long[] validity;
    private final long[] textValidity;
    private boolean hasNulls;

    // The rows at hand
    private int[] rows = new int[0];
    private int[] sizes = new int[0];
    private final int[][] marks; // per text and row
    private final int[][] lengths; // of the bytes in the row
    private final long[][] sources;
    private int[] numbers = new int[0];

    private int[] ends = new int[0]; // while decoding: where each row's next text is

    /** A codec of all columns of batches. */
    public PackedCodec(Schema schema, BufferAllocator allocator) {
        this(schema, IntStream.range(0, schema.size()).toArray(), allocator);
    }

    /** A codec of some columns of batches. */
    public PackedCodec(Schema batches, int[] columns, BufferAllocator allocator) {
        this.columns = columns.clone();
        this.schema = batches.select(Arrays.stream(columns).boxed().toList());
        List<DataType> types = schema.fields().stream().map(Field::type).toList();
        this.plain = new RowCodec(types, false, allocator);
        this.layout = new PackedLayout(schema);
        this.slots = layout.slots;
        this.nullBits = layout.nullBits;
        this.fixed = layout.fixed;
        this.widths = layout.widths;
        this.texts = layout.texts;
        this.nullsAt = layout.nullsAt;
        this.marksAt = layout.marksAt;
        this.textsAt = layout.textsAt;
        this.data = new long[fixed.length];
        this.validity = new long[fixed.length];
        this.textValidity = new long[texts.length];
        this.marks = new int[texts.length][0];
        this.lengths = new int[texts.length][0];
        this.sources = new long[texts.length][0];
        this.dictionaries = new TextDictionary[texts.length];
        for (int i = 0; i < texts.length; i++) {
            dictionaries[i] = new TextDictionary(allocator);
        }
        this.images = new NestedImages(allocator);
        this.scratch = new StateMemory(allocator);
    }

    public Schema schema() {
        return schema;
    }

    /** The codec whose rows {@link #unpack} makes. */
    public RowCodec plain() {
        return plain;
    }

    /** Where in a row the value of a column is that is no text. */
    public int slot(int column) {
        return slots[column];
    }

    /** Bytes of the dictionaries. */
    public long bytes() {
        long bytes = 0;
        for (TextDictionary dictionary : dictionaries) {
            bytes += dictionary.bytes();
        }
        return bytes;
    }

    // ---- in

    /**
     * Looks at rows of a batch; the batch must stay until the last {@link #store} of
     * them, and so must {@code chosen}.
     *
     * @param chosen positions in the batch, of which there are {@code count}
     */
    public void prepare(Batch batch, int[] chosen, int count) {
        images.clear();
        rows = chosen;
        if (sizes.length < count) {
            sizes = new int[count];
            numbers = new int[count];
        }
        Arrays.fill(sizes, 0, count, textsAt);
        hasNulls = false;
        for (int i = 0; i < fixed.length; i++) {
            int column = columns[fixed[i]];
            data[i] = batch.dataAddress(column);
            validity[i] = nullBits[fixed[i]] < 0 ? 0 : batch.validityAddress(column);
            hasNulls |= validity[i] != 0;
        }
        for (int i = 0; i < texts.length; i++) {
            int column = columns[texts[i]];
            textValidity[i] = nullBits[texts[i]] < 0 ? 0 : batch.validityAddress(column);
            hasNulls |= textValidity[i] != 0;
            measure(i, images.dataAddress(batch, column), images.offsetsAddress(batch, column), count);
        }
    }

    private void measure(int text, long bytes, long offsets, int count) {
        if (marks[text].length < count) {
            marks[text] = new int[count];
            lengths[text] = new int[count];
            sources[text] = new long[count];
        }
        int[] mark = marks[text];
        int[] length = lengths[text];
        long[] source = sources[text];
        long valid = textValidity[text];
        for (int i = 0; i < count; i++) {
            int start = Memory.getInt(offsets + 4L * rows[i]);
            source[i] = bytes + start;
            length[i] = valid != 0 && !Memory.getBit(valid, rows[i]) // a vector may have anything there
                    ? 0
                    : Memory.getInt(offsets + 4L * rows[i] + 4) - start;
        }
        dictionaries[text].find(source, length, count, numbers);
        for (int i = 0; i < count; i++) {
            if (numbers[i] >= 0) {
                mark[i] = NUMBERED | numbers[i];
                length[i] = 0;
            } else if (length[i] < LONG) {
                mark[i] = length[i];
                sizes[i] += length[i];
            } else {
                mark[i] = LONG;
                sizes[i] += length[i] + 4;
            }
        }
    }

    /** A copy of the i-th row at hand in a new block behind {@code header} bytes; returns the row. */
    public long store(int i, StateMemory memory, int header) {
        long to = memory.allocate(header + sizes[i]) + header;
        write(i, rows[i], to);
        return to;
    }

    /** The number of bytes that {@link #write} writes for the i-th row at hand. */
    public int bytes(int i) {
        return sizes[i];
    }

    /** Writes the i-th row at hand. */
    public void write(int i, long to) {
        write(i, rows[i], to);
    }

    private void write(int position, int row, long to) {
        for (int i = 0; i < fixed.length; i++) {
            long slot = to + slots[fixed[i]];
            switch (widths[i]) {
                case 8 -> Memory.putLong(slot, Memory.getLong(data[i] + 8L * row));
                case 4 -> Memory.putInt(slot, Memory.getInt(data[i] + 4L * row));
                case 16 -> {
                    Memory.putLong(slot, Memory.getLong(data[i] + 16L * row));
                    Memory.putLong(slot + 8, Memory.getLong(data[i] + 16L * row + 8));
                }
                case 2 -> Memory.putShort(slot, Memory.getShort(data[i] + 2L * row));
                default -> Memory.putByte(slot, (byte) (Memory.getBit(data[i], row) ? 1 : 0));
            }
        }
        for (long at = to + nullsAt; at < to + marksAt; at++) {
            Memory.putByte(at, (byte) 0);
        }
        if (hasNulls) {
            writeNulls(row, to);
        }
        long at = to + textsAt;
        for (int i = 0; i < texts.length; i++) {
            int mark = marks[i][position];
            Memory.putShort(to + marksAt + 2L * i, (short) mark);
            if (mark < NUMBERED) {
                int length = lengths[i][position];
                if (mark == LONG) {
                    Memory.putInt(at, length);
                    at += 4;
                }
                Bytes.copy(sources[i][position], at, length);
                at += length;
            }
        }
    }

    private void writeNulls(int row, long to) {
        for (int i = 0; i < fixed.length; i++) {
            if (validity[i] != 0 && !Memory.getBit(validity[i], row)) {
                Memory.setBit(to + nullsAt, nullBits[fixed[i]]);
                Memory.fill(to + slots[fixed[i]], widths[i], (byte) 0);
            }
        }
        for (int i = 0; i < texts.length; i++) {
            if (textValidity[i] != 0 && !Memory.getBit(textValidity[i], row)) {
                Memory.setBit(to + nullsAt, nullBits[texts[i]]);
            }
        }
    }

    // ---- rows

    /** How many bytes a row takes. */
    public int length(long row) {
        return layout.end(row, texts.length);
    }

    /** The same row without the dictionary, at an address that is good until the next call; {@link #length} measures it. */
    public long inlined(long row) {
        int bytes = textsAt;
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            bytes += mark < NUMBERED ? 0 : dictionaries[i].length(mark - NUMBERED);
        }
        scratch.reset();
        long copy = scratch.allocate(bytes + length(row) - textsAt);
        Memory.copy(row, copy, textsAt);
        long from = row + textsAt;
        long to = copy + textsAt;
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            if (mark >= NUMBERED) {
                int length = dictionaries[i].length(mark - NUMBERED);
                Memory.putShort(copy + slots[texts[i]], (short) length);
                Memory.copy(dictionaries[i].address(mark - NUMBERED), to, length);
                to += length;
            } else {
                int length = mark == LONG ? 4 + Memory.getInt(from) : mark;
                Memory.copy(from, to, length);
                from += length;
                to += length;
            }
        }
        return copy;
    }

    /** The row of {@link #plain} with the same values, {@link #unpackedLength} bytes, in a new block of {@code memory}. */
    public long unpack(long row, StateMemory memory) {
        int bytes = unpackedLength(row);
        long to = memory.allocate(bytes);
        int fixedBytes = plain.fixedBytes();
        Memory.fill(to, bytes, (byte) 0);
        for (int column = 0; column < slots.length; column++) {
            if (layout.isNull(row, column)) {
                long word = to + 8L * (column >>> 6);
                Memory.putLong(word, Memory.getLong(word) | 1L << column);
            } else if (!layout.isText(column)) {
                unpackValue(column, row + slots[column], to + plain.slot(column));
            }
        }
        long from = row + textsAt;
        int at = fixedBytes;
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            from += mark == LONG ? 4 : 0;
            int length = textLength(i, mark, from);
            if (!layout.isNull(row, texts[i])) {
                Memory.putInt(to + plain.slot(texts[i]), at);
                Memory.putInt(to + plain.slot(texts[i]) + 4, length);
                Memory.copy(mark >= NUMBERED ? dictionaries[i].address(mark - NUMBERED) : from, to + at, length);
                at += length;
            }
            from += mark >= NUMBERED ? 0 : length;
        }
        return to;
    }

    /** Bytes of the row of {@link #plain} with the same values. */
    public int unpackedLength(long row) {
        int bytes = plain.fixedBytes();
        long from = row + textsAt;
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            from += mark == LONG ? 4 : 0;
            int length = textLength(i, mark, from);
            bytes += length;
            from += mark >= NUMBERED ? 0 : length;
        }
        return (bytes + 7) & -8;
    }

    /** The length of the text that a mark is for, whose bytes are at {@code from} if they are in the row. */
    private int textLength(int text, int mark, long from) {
        return mark >= NUMBERED
                ? dictionaries[text].length(mark - NUMBERED)
                : mark == LONG ? Memory.getInt(from - 4) : mark;
    }

    private void unpackValue(int column, long from, long to) {
        switch (schema.type(column).kind()) {
            case REAL -> Memory.putLong(to, Double.doubleToRawLongBits(Memory.getFloat(from)));
            case BOOLEAN -> Memory.putLong(to, Memory.getByte(from));
            case SMALLINT -> Memory.putLong(to, Memory.getShort(from));
            case INTEGER, DATE -> Memory.putLong(to, Memory.getInt(from));
            default -> {
                Memory.putLong(to, Memory.getLong(from));
                if (layout.width(column) == 16) {
                    Memory.putLong(to + 8, Memory.getLong(from + 8));
                }
            }
        }
    }

    // ---- out

    @Override
    public int columnCount() {
        return slots.length;
    }

    @Override
    public void decode(
            Schema fields, int first, long[] rows, int count, List<FieldVector> vectors, BufferAllocator target) {
        if (ends.length < count) {
            ends = new int[count];
        }
        Arrays.fill(ends, 0, count, textsAt);
        int text = 0;
        for (int column = 0; column < slots.length; column++) {
            Field field = fields.field(first + column);
            if (layout.isText(column)) {
                vectors.add(decodeText(text++, field, rows, count, target));
            } else {
                vectors.add(decodeValues(column, field, rows, count, target));
            }
        }
    }

    /** One column of rows. */
    public FieldVector decode(int column, Field field, long[] rows, int count, BufferAllocator target) {
        if (!layout.isText(column)) {
            return decodeValues(column, field, rows, count, target);
        }
        if (ends.length < count) {
            ends = new int[count];
        }
        int text = (slots[column] - marksAt) / 2;
        for (int i = 0; i < count; i++) {
            ends[i] = layout.end(rows[i], text);
        }
        return decodeText(text, field, rows, count, target);
    }

    private FieldVector decodeValues(int column, Field field, long[] rows, int count, BufferAllocator target) {
        FieldVector vector = Vectors.allocate(field, count, 0, target);
        long to = vector.getDataBufferAddress();
        int slot = slots[column];
        decodeNulls(column, vector, rows, count);
        PackedValues.copy(schema.type(column).fixedWidth(), rows, slot, count, to);
        Vectors.finish(vector, count);
        return vector;
    }

    private void decodeNulls(int column, FieldVector vector, long[] rows, int count) {
        long bits = vector.getValidityBufferAddress();
        Vectors.setBits(bits, count);
        if (nullBits[column] >= 0) {
            for (int i = 0; i < count; i++) {
                if (layout.isNull(rows[i], column)) {
                    Memory.clearBit(bits, i);
                }
            }
        }
    }

    private FieldVector decodeText(int text, Field field, long[] rows, int count, BufferAllocator target) {
        int column = texts[text];
        Kind kind = schema.type(column).kind();
        if (kind == Kind.ARRAY || kind == Kind.ROW) {
            return decodeNested(text, field, rows, count, target);
        }
        TextDictionary dictionary = dictionaries[text];
        int slot = slots[column];
        long bytes = PackedValues.textBytes(rows, slot, ends, count, dictionary);
        FieldVector vector = Vectors.allocate(field, count, bytes, target);
        decodeNulls(column, vector, rows, count);
        PackedValues.copyTexts(
                rows, slot, ends, count, dictionary, vector.getDataBufferAddress(), vector.getOffsetBufferAddress());
        Vectors.finish(vector, count);
        return vector;
    }

    private FieldVector decodeNested(int text, Field field, long[] rows, int count, BufferAllocator target) {
        int column = texts[text];
        FieldVector vector = Vectors.allocate(field, count, 0, target);
        for (int i = 0; i < count; i++) {
            int mark = Memory.getShort(rows[i] + slots[column]) & 0xFFFF;
            if (mark == LONG) {
                ends[i] += 4;
            }
            int length = textLength(text, mark, rows[i] + ends[i]);
            long from = mark >= NUMBERED ? dictionaries[text].address(mark - NUMBERED) : rows[i] + ends[i];
            ends[i] += mark >= NUMBERED ? 0 : length;
            if (layout.isNull(rows[i], column)) {
                NestedCodec.setNull(vector, i);
            } else {
                byte[] bytes = new byte[length];
                Memory.copyOut(from, bytes, 0, length);
                nested.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), vector, schema.type(column), i);
            }
        }
        vector.setValueCount(count);
        return vector;
    }

    /** Frees dictionaries and scratch: rows are unreadable then. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(List.of(dictionaries));
        all.addAll(List.of(plain, images, scratch));
        Closing.all(all);
    }
}
