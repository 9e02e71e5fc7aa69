package dev.millrace.expressions.function.pattern;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Texts;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * LIKE. A pattern is cut at its percent signs into segments: the first must be at the text's start, the last at its end,
 * those between are found from left to right, each at its first place. A segment without underscores is plain bytes.
 */
public final class LikePattern implements AutoCloseable {
    private static final int CHECKED_CANDIDATES = 1 << 14;
    private static final byte ANY = (byte) 0xff; // stands for an underscore; no byte of UTF-8

    private final Pattern pattern = new Pattern();
    private final Pattern escape = new Pattern();
    private final TextBuffer bytes; // of all segments
    private int[] starts = new int[0]; // per segment, and the end
    private boolean[] plain = new boolean[0];

    public LikePattern(BufferAllocator allocator) {
        bytes = new TextBuffer(allocator, 0);
    }

    public void prepare(long patternAddress, int patternLength) {
        if (pattern.changed(patternAddress, patternLength)) {
            compile(new byte[] {'\\'});
        }
    }

    public void prepare(long patternAddress, int patternLength, long escapeAddress, int escapeLength) {
        if (pattern.changed(patternAddress, patternLength) | escape.changed(escapeAddress, escapeLength)) {
            compile(escape.bytes());
        }
    }

    private void compile(byte[] escapeBytes) {
        pattern.forget();
        String escapeText = new String(escapeBytes, StandardCharsets.UTF_8);
        if (escapeText.codePointCount(0, escapeText.length()) > 1) {
            throw MillraceException.user(SqlState.INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                    .withHint("Escape string must be empty or one character.");
        }
        int escapeCharacter = escapeText.isEmpty() ? -1 : escapeText.codePointAt(0);
        bytes.clear();
        List<Integer> begun = new ArrayList<>(List.of(0));
        List<Boolean> isPlain = new ArrayList<>(List.of(true));
        int[] characters = pattern.text().codePoints().toArray();
        for (int i = 0; i < characters.length; i++) {
            int c = characters[i];
            if (c == escapeCharacter) {
                if (++i == characters.length) {
                    throw MillraceException.user(
                            SqlState.INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character");
                }
                Texts.append(bytes, characters[i]);
            } else if (c == '%') {
                begun.add((int) bytes.length());
                isPlain.add(true);
            } else if (c == '_') {
                bytes.append(ANY);
                isPlain.set(isPlain.size() - 1, false);
            } else {
                Texts.append(bytes, c);
            }
        }
        begun.add((int) bytes.length());
        starts = begun.stream().mapToInt(Integer::intValue).toArray();
        plain = new boolean[isPlain.size()];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = isPlain.get(i);
        }
        pattern.remember();
    }

    public boolean matches(long address, int length) {
        int last = plain.length - 1;
        int at = match(0, address, 0, length);
        if (at < 0 || last == 0) {
            return at == length;
        }
        for (int segment = 1; segment < last; segment++) {
            at = find(segment, address, at, length);
            if (at < 0) {
                return false;
            }
        }
        int end = startAtEnd(last, address, length);
        return end >= at && match(last, address, end, length) == length;
    }

    private long segment(int index) {
        return bytes.address() + starts[index];
    }

    private int segmentBytes(int index) {
        return starts[index + 1] - starts[index];
    }

    /** Where a segment that begins at {@code from} ends, or -1. */
    private int match(int index, long address, int from, int length) {
        long segment = segment(index);
        int count = segmentBytes(index);
        if (plain[index]) {
            return length - from >= count && Memory.equal(address + from, segment, count) ? from + count : -1;
        }
        int at = from;
        for (int i = 0; i < count; i++) {
            if (at >= length) {
                return -1;
            }
            byte wanted = Memory.getByte(segment + i);
            byte found = Memory.getByte(address + at);
            if (wanted == ANY) {
                at += Texts.characterBytes(found);
            } else if (wanted == found) {
                at++;
            } else {
                return -1;
            }
        }
        return at;
    }

    /** Where the first place of a segment at or after {@code from} ends, or -1. */
    private int find(int index, long address, int from, int length) {
        if (plain[index]) {
            int found = Bytes.indexOf(address, length, segment(index), segmentBytes(index), from);
            return found < 0 ? -1 : found + segmentBytes(index);
        }
        byte first = Memory.getByte(segment(index));
        byte second = segmentBytes(index) > 1 ? Memory.getByte(segment(index) + 1) : ANY;
        boolean pair = first != ANY && second != ANY;
        int at = from;
        int candidates = 0;
        while (at < length) {
            candidates += 1 + (segmentBytes(index) >>> 3);
            if (candidates > CHECKED_CANDIDATES) {
                candidates = 0;
                Interrupt.checkCurrent();
            }
            at = pair ? Bytes.indexOfPair(address, length, first, second, at) : at;
            int end = at < 0 ? -1 : match(index, address, at, length);
            if (at < 0 || end >= 0) {
                return end;
            }
            at += Texts.characterBytes(Memory.getByte(address + at));
        }
        return -1;
    }

    /** Where a segment begins that ends with the text, or -1. */
    private int startAtEnd(int index, long address, int length) {
        if (plain[index]) {
            return length - segmentBytes(index);
        }
        int at = length;
        long segment = segment(index);
        for (int i = segmentBytes(index) - 1; i >= 0 && at >= 0; i--) {
            at--;
            if (Memory.getByte(segment + i) == ANY) {
                while (at > 0 && (Memory.getByte(address + at) & 0xc0) == 0x80) {
                    at--;
                }
            }
        }
        return at;
    }

    @Override
    public void close() {
        bytes.close();
    }
}
