package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Where the columns lie in a row of a {@link PackedCodec}.
 *
 * <pre>
 *   row   number of the layout of the words, if there are any | values of 16, of 8, of 4, of 2 bytes, BOOLEAN as a byte
 *         | a bit per column that may be NULL, set: NULL | a mark of 2 bytes per text or nested column
 *         | {@link PackedWords} | bytes of texts
 *   mark  length of the text; or LONG: 4 bytes before the text are its length; or from NUMBERED on its number in the
 *         dictionary, and no bytes
 * </pre>
 *
 * Nothing is aligned. The slot of a NULL is zero.
 */
final class PackedLayout {
    static final int LONG = 0x7FFF;
    static final int NUMBERED = 0x8000;
    private static final int[] WIDTHS = {16, 8, 4, 2, 1};

    private final Schema schema;
    final int[] slots; // of each column, of texts the mark, of words their number
    final int[] nullBits; // of each column, or -1
    final int[] fixed; // columns that are neither text nor words, widest first
    final int[] widths; // of those
    final int[] wordColumns;
    final int[] texts;
    final int nullsAt;
    final int marksAt;
    final PackedWords words;
    private final BitSet isWord = new BitSet();

    /** @param still columns that have their place and all their bytes in each row */
    PackedLayout(Schema schema, BitSet still) {
        this.schema = schema;
        this.slots = new int[schema.size()];
        this.nullBits = new int[schema.size()];
        for (int column = 0; column < slots.length; column++) {
            boolean ofRange = switch (schema.type(column).kind()) {
                case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
                default -> false;
            };
            isWord.set(column, ofRange && !still.get(column));
        }
        this.wordColumns = isWord.stream().toArray();
        for (int word = 0; word < wordColumns.length; word++) {
            slots[wordColumns[word]] = word;
        }
        List<Integer> values = new ArrayList<>();
        List<Integer> strings = new ArrayList<>();
        int at = wordColumns.length == 0 ? 0 : 1;
        for (int width : WIDTHS) {
            for (int column = 0; column < slots.length; column++) {
                if (!isText(column) && !isWord(column) && width(column) == width) {
                    values.add(column);
                    slots[column] = at;
                    at += width;
                }
            }
        }
        int bits = 0;
        for (int column = 0; column < slots.length; column++) {
            nullBits[column] = schema.field(column).nullable() ? bits++ : -1;
        }
        this.nullsAt = at;
        at += (bits + 7) >>> 3;
        this.marksAt = at;
        for (int column = 0; column < slots.length; column++) {
            if (isText(column)) {
                strings.add(column);
                slots[column] = at;
                at += 2;
            }
        }
        this.words = new PackedWords(at, wordColumns.length);
        this.fixed = values.stream().mapToInt(Integer::intValue).toArray();
        this.widths = values.stream().mapToInt(this::width).toArray();
        this.texts = strings.stream().mapToInt(Integer::intValue).toArray();
    }

    boolean isText(int column) {
        return SlotKind.of(schema.type(column)) == SlotKind.BYTES;
    }

    boolean isWord(int column) {
        return isWord.get(column);
    }

    int width(int column) {
        int width = schema.type(column).fixedWidth();
        return width == 0 ? 1 : width; // BOOLEAN
    }

    /** Bytes of a row. */
    int length(long row) {
        return Math.max(end(row, texts.length), words.least(row));
    }

    /** Where the bytes of a row's first texts end. */
    int end(long row, int count) {
        int at = words.end(row);
        for (long mark = row + marksAt; mark < row + marksAt + 2L * count; mark += 2) {
            at += bytes(Memory.getShort(mark) & 0xFFFF, row + at);
        }
        return at;
    }

    /** The bytes in the row for a text with this mark, the length of a LONG one included; they are at {@code at}. */
    static int bytes(int mark, long at) {
        return mark < LONG ? mark : mark == LONG ? 4 + Memory.getInt(at) : 0;
    }

    boolean isNull(long row, int column) {
        int bit = nullBits[column];
        return bit >= 0 && (Memory.getByte(row + nullsAt + (bit >>> 3)) >>> (bit & 7) & 1) != 0;
    }
}
