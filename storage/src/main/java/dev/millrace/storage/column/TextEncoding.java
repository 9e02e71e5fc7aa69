package dev.millrace.storage.column;

import dev.millrace.memory.Memory;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Strings of bytes one after the other, or the distinct ones once and for each which it is. For one thread. */
final class TextEncoding {
    static final int PLAIN = 0;
    static final int DICTIONARY = 1;

    private static final int COPY_SLACK = 16; // texts are copied by two words

    private TextEncoding() {}

    /** Writes strings that lie one after the other, by a dictionary if that is allowed and shorter; says whether it was. */
    static boolean write(
            long[] lengths, int count, byte[] data, int dataBytes, boolean mayUseDictionary, ByteOutput out) {
        if (mayUseDictionary && count > 1) {
            DistinctTexts dictionary = DistinctTexts.of(lengths, count, data, dataBytes);
            if (!dictionary.isEmpty()) {
                out.putByte(DICTIONARY);
                out.putInt(dictionary.size());
                IntegerEncoding.write(dictionary.lengths(), dictionary.size(), out);
                out.putInt((int) dictionary.bytes());
                for (int code = 0; code < dictionary.size(); code++) {
                    out.putBytes(data, dictionary.start(code), (int) dictionary.lengths()[code]);
                }
                IntegerEncoding.write(dictionary.codes(), count, out);
                return true;
            }
        }
        out.putByte(PLAIN);
        IntegerEncoding.write(lengths, count, out);
        out.putInt(dataBytes);
        out.putBytes(data, 0, dataBytes);
        return false;
    }

    /**
     * Reads so many strings.
     *
     * @param buffers to which the buffer of their ends (the first one's beginning, 0, before them) and that of their bytes are added; the
     *     caller's
     */
    static void read(ByteInput in, int count, BufferAllocator allocator, List<ArrowBuf> buffers) {
        int form = in.getByte();
        if (form == PLAIN) {
            ArrowBuf ends = buffer(4L * count + 4, allocator, buffers);
            int total = readEnds(IntegerCursor.open(in, count), count, ends.memoryAddress());
            requireLength(in, total);
            long from = in.take(total);
            ArrowBuf data = buffer(total, allocator, buffers);
            Memory.copy(from, data.memoryAddress(), total);
        } else if (form == DICTIONARY) {
            readDictionary(in, count, allocator, buffers);
        } else {
            throw new EncodingException("there is no form " + form + " of texts");
        }
    }

    private static void requireLength(ByteInput in, int total) {
        int length = in.getInt();
        if (length != total) {
            throw new EncodingException("its texts have " + total + " bytes together, not " + length);
        }
    }

    private static ArrowBuf buffer(long bytes, BufferAllocator allocator, List<ArrowBuf> buffers) {
        ArrowBuf buffer = allocator.buffer(bytes + COPY_SLACK);
        buffers.add(buffer);
        buffer.writerIndex(bytes);
        return buffer;
    }

    /** Where strings of some lengths end; 4 bytes each behind a 0. Returns the last. */
    static int readEnds(IntegerCursor lengths, int count, long to) {
        Memory.putInt(to, 0);
        int end = lengths.inRuns() ? endsOfRuns(lengths, count, to + 4) : ends(lengths, count, to + 4);
        lengths.end();
        return end;
    }

    private static int ends(IntegerCursor lengths, int count, long to) {
        long[] group = new long[Math.min(count, IntegerEncoding.GROUP)];
        int end = 0;
        for (int from = 0; from < count; from += IntegerEncoding.GROUP) {
            int size = Math.min(IntegerEncoding.GROUP, count - from);
            lengths.next(group, size);
            for (int i = 0; i < size; i++) {
                end = after(end, group[i]);
                Memory.putInt(to + 4L * (from + i), end);
            }
        }
        return end;
    }

    /** Where most values are NULL, there are long runs of 0. */
    private static int endsOfRuns(IntegerCursor lengths, int count, long to) {
        int end = 0;
        for (int at = 0; at < count; ) {
            long length = lengths.runValue();
            int behind = at + lengths.takeRun(count - at);
            for (; at < behind; at++) {
                end = length == 0 ? end : after(end, length);
                Memory.putInt(to + 4L * at, end);
            }
        }
        return end;
    }

    private static int after(int end, long length) {
        if (length < 0 || length > Integer.MAX_VALUE - end) {
            throw new EncodingException("a value of " + length + " bytes or elements follows " + end);
        }
        return end + (int) length;
    }

    private static void readDictionary(ByteInput in, int count, BufferAllocator allocator, List<ArrowBuf> buffers) {
        int size = in.getCount(IntegerEncoding.MOST_ENTRIES);
        long[] places = IntegerCursor.readAll(in, size); // lengths; then start and length, each in a half
        int bytes = 0;
        long longest = 0;
        for (int code = 0; code < size; code++) {
            int end = after(bytes, places[code]);
            longest = Math.max(longest, places[code]);
            places[code] |= (long) bytes << 32;
            bytes = end;
        }
        requireLength(in, bytes);
        long texts = in.take(bytes);
        ArrowBuf ends = buffer(4L * count + 4, allocator, buffers);
        long endsAt = ends.memoryAddress();
        // First which they are, in the place of the ends, as all must be known to fit before the first is copied.
        FixedWidth.read(in, count, 4, endsAt + 4);
        Memory.putInt(endsAt, 0);
        long total = totalOf(places, size, endsAt + 4, count);
        long to = buffer(after(0, total), allocator, buffers).memoryAddress();
        if (longest <= 8) {
            copyShort(places, texts, endsAt + 4, count, to);
        } else {
            copy(places, texts, endsAt + 4, count, to);
        }
    }

    private static long totalOf(long[] places, int size, long codes, int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            int code = Memory.getInt(codes + 4L * i);
            if (code < 0 || code >= size) {
                throw new EncodingException("there is no distinct text " + code);
            }
            total += (int) places[code];
        }
        return total;
    }

    // Both copy up to 15 bytes too many, which the next text overwrites; the last one's are in the buffer's slack.

    private static void copyShort(long[] places, long texts, long codes, int count, long to) {
        int end = 0;
        for (int i = 0; i < count; i++) {
            long place = places[Memory.getInt(codes + 4L * i)];
            Memory.putLong(to + end, Memory.getLong(texts + (place >>> 32)));
            end += (int) place;
            Memory.putInt(codes + 4L * i, end);
        }
    }

    private static void copy(long[] places, long texts, long codes, int count, long to) {
        int end = 0;
        for (int i = 0; i < count; i++) {
            long place = places[Memory.getInt(codes + 4L * i)];
            int length = (int) place;
            long from = texts + (place >>> 32);
            for (int copied = 0; copied < length; copied += 16) {
                long first = Memory.getLong(from + copied);
                Memory.putLong(to + end + copied + 8, Memory.getLong(from + copied + 8));
                Memory.putLong(to + end + copied, first);
            }
            end += length;
            Memory.putInt(codes + 4L * i, end);
        }
    }
}
