package dev.millrace.connectors.parquet;

import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.Type;
import org.jspecify.annotations.Nullable;

/**
 * Goes over the values of one leaf in one row group: of each its levels, and the value where there is one. A page is in memory at a time, and the
 * dictionary. Owned by one thread.
 *
 * <pre>
 *   [dictionary page]   ( data page: repetition levels, definition levels, values )*
 * </pre>
 */
final class ColumnCursor implements AutoCloseable {
    private static final int LARGEST_PAGE = 128 << 20;

    private final ParquetFile file;
    private final SchemaNode node;
    private final LeafType type;
    private final CompressionCodec codec;
    private final ParquetMemory packed;
    private final ParquetMemory page;
    private final ParquetMemory dictionaryPage;
    private final TextBuffer scratch;
    private final RunDecoder repetitionLevels = new RunDecoder();
    private final RunDecoder definitionLevels = new RunDecoder();
    private final long end; // of the chunk, in the file
    private long at;
    private long left; // values of the chunk that are in no page yet
    private long leftInPage;
    private Optional<PageDictionary> dictionary = Optional.empty();
    private @Nullable PageValues values; // of the page under way
    private int repetition;
    private int definition;
    private boolean isAtValue; // whether the levels are those of a value that was not taken

    ColumnCursor(ParquetFile file, SchemaNode node, ColumnMetaData chunk, BufferAllocator allocator)
            throws ParquetDamage {
        this.file = file;
        this.node = node;
        this.type = node.leaf().orElseThrow();
        this.codec = chunk.getCodec();
        this.packed = new ParquetMemory(allocator);
        this.page = new ParquetMemory(allocator);
        this.dictionaryPage = new ParquetMemory(allocator);
        this.scratch = new TextBuffer(allocator, 64);
        boolean hasDictionary = chunk.isSetDictionary_page_offset()
                && chunk.getDictionary_page_offset() > 0
                && chunk.getDictionary_page_offset() < chunk.getData_page_offset();
        this.at = hasDictionary ? chunk.getDictionary_page_offset() : chunk.getData_page_offset();
        this.end = at + chunk.getTotal_compressed_size();
        this.left = chunk.getNum_values();
    }

    /** Which of its repeated parts the value under way is in again; 0 for the first of a row. */
    int repetition() {
        return repetition;
    }

    /** How many of its optional and repeated parts are there. */
    int definition() {
        return definition;
    }

    /** Goes to the next levels, and to the value that they may have; false at the end. */
    boolean next() throws IOException {
        while (leftInPage == 0) {
            if (left == 0) {
                isAtValue = false;
                return false;
            }
            readPage();
        }
        leftInPage--;
        repetition = node.repetitions() > 0 ? level(repetitionLevels, node.repetitions()) : 0;
        definition = node.definition() > 0 ? level(definitionLevels, node.definition()) : 0;
        isAtValue = true;
        if (definition == node.definition()) {
            values().next();
        }
        return true;
    }

    private static int level(RunDecoder levels, int most) throws ParquetDamage {
        int level = levels.next();
        ParquetDamage.check(level >= 0 && level <= most, "a level of " + level + " where " + most + " is the greatest");
        return level;
    }

    private PageValues values() {
        if (values == null) {
            throw new IllegalStateException("no page is there");
        }
        return values;
    }

    /** Puts the value under way, which is there. */
    void put(ValueTarget to) {
        type.put(values(), to);
    }

    /** How many bytes the value under way has, which is there; 0 of a number. */
    int length() {
        return type.isNumber() ? 0 : values().length();
    }

    /** Whether the levels are of something: else all was gone over. */
    boolean isAtValue() {
        return isAtValue;
    }

    // ---- pages -----------------------------------------------------------------------------------------------------

    private void readPage() throws IOException {
        ParquetFile.Header header = file.pageHeader(at, end);
        at = header.end();
        PageHeader of = header.page();
        int length = of.getCompressed_page_size();
        int unpacked = of.getUncompressed_page_size();
        ParquetDamage.check(
                length >= 0
                        && length <= end - at
                        && unpacked >= 0
                        && unpacked <= LARGEST_PAGE
                        && length <= LARGEST_PAGE,
                "a page of " + length + " bytes, unpacked " + unpacked);
        switch (of.getType()) {
            case DICTIONARY_PAGE -> {
                ParquetDamage.check(dictionary.isEmpty() && of.isSetDictionary_page_header(), "a second dictionary");
                read(dictionaryPage, length, unpacked, 0, codec != CompressionCodec.UNCOMPRESSED);
                dictionary =
                        Optional.of(dictionary(of.getDictionary_page_header().getNum_values(), unpacked));
            }
            case DATA_PAGE -> {
                ParquetDamage.check(of.isSetData_page_header(), "a page without a header of its own");
                read(page, length, unpacked, 0, codec != CompressionCodec.UNCOMPRESSED);
                begin(of.getData_page_header(), unpacked);
            }
            case DATA_PAGE_V2 -> {
                ParquetDamage.check(of.isSetData_page_header_v2(), "a page without a header of its own");
                DataPageHeaderV2 v2 = of.getData_page_header_v2();
                int levels = levelBytes(v2, Math.min(length, unpacked));
                boolean isPacked = v2.isIs_compressed() && codec != CompressionCodec.UNCOMPRESSED;
                read(page, length, unpacked, levels, isPacked);
                begin(v2, unpacked);
            }
            case INDEX_PAGE -> {
                // nothing that is needed
            }
        }
        at += length;
    }

    private static int levelBytes(DataPageHeaderV2 header, int most) throws ParquetDamage {
        int repetitions = header.getRepetition_levels_byte_length();
        int definitions = header.getDefinition_levels_byte_length();
        ParquetDamage.check(
                repetitions >= 0 && definitions >= 0 && (long) repetitions + definitions <= most,
                "levels of " + repetitions + " and " + definitions + " bytes");
        return repetitions + definitions;
    }

    /** @param asTheyAre how many of the first bytes are not packed */
    private void read(ParquetMemory into, int length, int unpacked, int asTheyAre, boolean isPacked)
            throws IOException {
        into.reserve(unpacked);
        if (!isPacked) {
            ParquetDamage.check(
                    length == unpacked, "a page of " + length + " bytes that is not packed has " + unpacked);
            file.read(at, into.bytes(0, length));
        } else {
            file.read(at, into.bytes(0, asTheyAre));
            packed.reserve(length);
            file.read(at + asTheyAre, packed.bytes(0, length - asTheyAre));
            if (unpacked > asTheyAre || length > asTheyAre) {
                PagePacking.unpack(
                        codec, packed.bytes(0, length - asTheyAre), into.bytes(asTheyAre, unpacked - asTheyAre));
            }
        }
        Memory.putLong(into.address() + unpacked, 0);
        Memory.putLong(into.address() + unpacked + 8, 0);
    }

    private PageDictionary dictionary(int size, int bytes) throws ParquetDamage {
        ParquetDamage.check(
                size >= 0 && type.physical() != Type.BOOLEAN,
                "a dictionary of " + size + " values of " + type.physical());
        long from = dictionaryPage.address();
        return type.physical() == Type.BYTE_ARRAY
                ? PageDictionary.bytes(from, from + bytes, size)
                : PageDictionary.fixed(from, from + bytes, size, type.width(), type.isNumber());
    }

    private void begin(DataPageHeader header, int bytes) throws ParquetDamage {
        long from = page.address();
        long to = from + bytes;
        count(header.getNum_values());
        if (node.repetitions() > 0) {
            from = levels(repetitionLevels, header.getRepetition_level_encoding(), from, to, node.repetitions());
        }
        if (node.definition() > 0) {
            from = levels(definitionLevels, header.getDefinition_level_encoding(), from, to, node.definition());
        }
        values = values(header.getEncoding(), from, to);
    }

    private void begin(DataPageHeaderV2 header, int bytes) throws ParquetDamage {
        long from = page.address();
        long definitions = from + header.getRepetition_levels_byte_length();
        long data = definitions + header.getDefinition_levels_byte_length();
        count(header.getNum_values());
        repetitionLevels.begin(from, definitions, bits(node.repetitions()));
        definitionLevels.begin(definitions, data, bits(node.definition()));
        values = values(header.getEncoding(), data, from + bytes);
    }

    private void count(int count) throws ParquetDamage {
        ParquetDamage.check(count >= 0 && count <= left, "more values in its pages than in the column");
        leftInPage = count;
        left -= count;
    }

    /** Levels behind their length; gives where what is behind them begins. */
    private static long levels(RunDecoder into, Encoding encoding, long from, long end, int most) throws ParquetDamage {
        ParquetDamage.check(encoding == Encoding.RLE, "levels in encoding " + encoding);
        ParquetDamage.check(end - from >= 4, "a page ends before its levels do");
        long length = Memory.getInt(from) & 0xffffffffL;
        ParquetDamage.check(length <= end - from - 4, "a page ends before its levels do");
        into.begin(from + 4, from + 4 + length, bits(most));
        return from + 4 + length;
    }

    private static int bits(int most) {
        return 32 - Integer.numberOfLeadingZeros(most);
    }

    private PageValues values(Encoding encoding, long from, long to) throws ParquetDamage {
        ParquetDamage.check(encoding != null, "values in no known encoding");
        long most = leftInPage;
        boolean isBytes = type.physical() == Type.BYTE_ARRAY;
        boolean isWhole = type.physical() == Type.INT32 || type.physical() == Type.INT64;
        switch (encoding) {
            case PLAIN -> {
                if (type.physical() == Type.BOOLEAN) {
                    return PageValues.bits(from, to);
                }
                return type.isNumber()
                        ? PageValues.numbers(from, to, type.width())
                        : isBytes ? PageValues.bytes(from, to) : PageValues.fixed(from, to, type.width());
            }
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> {
                PageDictionary of =
                        dictionary.orElseThrow(() -> new ParquetDamage("places in a dictionary that is not there"));
                return PageValues.places(from, to, of);
            }
            case RLE -> {
                if (type.physical() == Type.BOOLEAN) {
                    return PageValues.runs(from, to);
                }
            }
            case DELTA_BINARY_PACKED -> {
                if (isWhole) {
                    return differences(from, to, most);
                }
            }
            case DELTA_LENGTH_BYTE_ARRAY -> {
                if (isBytes) {
                    return from == to ? PageValues.bytes(from, to) : PageValues.lengths(from, to, most);
                }
            }
            case DELTA_BYTE_ARRAY -> {
                if (!type.isNumber()) {
                    return from == to ? PageValues.bytes(from, to) : PageValues.prefixes(from, to, most, scratch);
                }
            }
            case BYTE_STREAM_SPLIT -> {
                if (!isBytes && type.physical() != Type.BOOLEAN) {
                    return PageValues.split(from, to, type.width(), type.isNumber(), scratch);
                }
            }
            case BIT_PACKED -> {
                // of levels alone, and long out of use
            }
        }
        throw new ParquetDamage("values of type " + type.physical() + " in encoding " + encoding);
    }

    private PageValues differences(long from, long to, long most) throws ParquetDamage {
        return from == to ? PageValues.numbers(from, to, type.width()) : PageValues.differences(from, to, most);
    }

    @Override
    public void close() {
        try (packed;
                page;
                dictionaryPage) {
            scratch.close();
        }
    }
}
