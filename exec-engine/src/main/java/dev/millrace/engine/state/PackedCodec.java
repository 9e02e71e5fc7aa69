package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows in as few bytes as are quick to read, for state that keeps many of them: whole numbers and times in the bytes that
 * their range needs, other values at their own width, bits for NULLs only where there may be some, and of texts that many rows share a number in the codec's dictionary. What such a row is
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
    private final PackedWords words; // these are its, for short
    private final int[] slots;
    private final int[] nullBits;
    private final int[] fixed;
    private final int[] widths;
    private final int[] texts;
    private final int[] columns; // of a batch, for each of the schema
    private final int nullsAt;
    private final int marksAt;
    private final TextDictionary[] dictionaries; // per text
    private final NestedImages images;
    private final NestedCodec nested = new NestedCodec();
    private final StateMemory scratch;

    // The batch at hand
    private final long[] data; // by position in fixed, texts
    private final long[] validity;
    private final long[] wordData; // by word
    private final long[] wordValidity;
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
        this(schema, IntStream.range(0, schema.size()).toArray(), new BitSet(), allocator);
    }

    /**
     * A codec of some columns of batches.
     *
     * @param still those of them, by their positions in {@code columns}, that {@link #slot} is asked for
     */
    public PackedCodec(Schema batches, int[] columns, BitSet still, BufferAllocator allocator) {
        this.columns = columns.clone();
        this.schema = batches.select(Arrays.stream(columns).boxed().toList());
        List<DataType> types = schema.fields().stream().map(Field::type).toList();
        this.plain = new RowCodec(types, false, allocator);
        this.layout = new PackedLayout(schema, still);
        this.words = layout.words;
        this.slots = layout.slots;
        this.nullBits = layout.nullBits;
        this.fixed = layout.fixed;
        this.widths = layout.widths;
        this.texts = layout.texts;
        this.nullsAt = layout.nullsAt;
        this.marksAt = layout.marksAt;
        this.data = new long[fixed.length];
        this.validity = new long[fixed.length];
        this.wordData = new long[layout.wordColumns.length];
        this.wordValidity = new long[layout.wordColumns.length];
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

    /** Where in each row the value is of a column that is no text and stays still. */
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
        hasNulls = false;
        for (int i = 0; i < wordData.length; i++) {
            int column = layout.wordColumns[i];
            wordData[i] = batch.dataAddress(columns[column]);
            wordValidity[i] = nullBits[column] < 0 ? 0 : batch.validityAddress(columns[column]);
            hasNulls |= wordValidity[i] != 0;
        }
        words.choose(wordData, wordValidity, chosen, count);
        Arrays.fill(sizes, 0, count, words.end());
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
        int least = words.least();
        for (int i = 0; i < count; i++) {
            sizes[i] = Math.max(sizes[i], least);
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
        words.write(wordData, wordValidity, row, to);
        for (long at = to + nullsAt; at < to + marksAt; at++) {
            Memory.putByte(at, (byte) 0);
        }
        if (hasNulls) {
            writeNulls(row, to);
        }
        long at = to + words.end();
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
        for (int i = 0; i < wordValidity.length; i++) {
            if (wordValidity[i] != 0 && !Memory.getBit(wordValidity[i], row)) {
                Memory.setBit(to + nullsAt, nullBits[layout.wordColumns[i]]);
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
        return layout.length(row);
    }

    /**
     * The same row as any codec of its columns reads it: without the dictionary, words in layout 0. Its address is good
     * until the next call; {@link #length} measures it.
     */
    public long inlined(long row) {
        int bytes = words.wideEnd();
        long from = row + words.end(row);
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            bytes += PackedValues.length(mark, from, dictionaries[i]) + (mark == LONG ? 4 : 0);
            from += PackedLayout.bytes(mark, from);
        }
        scratch.reset();
        long copy = scratch.allocate(bytes);
        Memory.copy(row, copy, words.begin());
        words.widen(row, copy);
        from = row + words.end(row);
        long to = copy + words.wideEnd();
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            int length = PackedValues.length(mark, from, dictionaries[i]);
            Memory.putShort(copy + slots[texts[i]], (short) (mark == LONG ? LONG : length));
            if (mark == LONG) {
                Memory.putInt(to, length);
                to += 4;
            }
            to += PackedValues.copyText(mark, from, dictionaries[i], to);
            from += PackedLayout.bytes(mark, from);
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
            } else if (layout.isWord(column)) {
                Memory.putLong(to + plain.slot(column), words.value(row, slots[column]));
            } else if (!layout.isText(column)) {
                unpackValue(column, row + slots[column], to + plain.slot(column));
            }
        }
        long from = row + words.end(row);
        int at = fixedBytes;
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            if (!layout.isNull(row, texts[i])) {
                int length = PackedValues.copyText(mark, from, dictionaries[i], to + at);
                Memory.putInt(to + plain.slot(texts[i]), at);
                Memory.putInt(to + plain.slot(texts[i]) + 4, length);
                at += length;
            }
            from += PackedLayout.bytes(mark, from);
        }
        return to;
    }

    /** Bytes of the row of {@link #plain} with the same values. */
    public int unpackedLength(long row) {
        int bytes = plain.fixedBytes();
        long from = row + words.end(row);
        for (int i = 0; i < texts.length; i++) {
            int mark = Memory.getShort(row + slots[texts[i]]) & 0xFFFF;
            bytes += PackedValues.length(mark, from, dictionaries[i]);
            from += PackedLayout.bytes(mark, from);
        }
        return (bytes + 7) & -8;
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
        for (int i = 0; i < count; i++) {
            ends[i] = words.end(rows[i]);
        }
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
        if (layout.isWord(column)) {
            words.copy(slot, rows, count, to);
        } else {
            PackedValues.copy(schema.type(column).fixedWidth(), rows, slot, count, to);
        }
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
        try {
            for (int i = 0; i < count; i++) {
                int mark = Memory.getShort(rows[i] + slots[column]) & 0xFFFF;
                long at = rows[i] + ends[i];
                int length = PackedValues.length(mark, at, dictionaries[text]);
                long from = PackedValues.address(mark, at, dictionaries[text]);
                ends[i] += PackedLayout.bytes(mark, at);
                if (layout.isNull(rows[i], column)) {
                    NestedCodec.setNull(vector, i);
                } else {
                    byte[] bytes = new byte[length];
                    Memory.copyOut(from, bytes, 0, length);
                    nested.decode(
                            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), vector, schema.type(column), i);
                }
            }
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) { // stopped, or out of memory
            vector.close();
            throw e;
        }
    }

    /** Frees dictionaries and scratch: rows are unreadable then. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(List.of(dictionaries));
        all.addAll(List.of(plain, images, scratch));
        Closing.all(all);
    }
}
