package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.form.Limits;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/** The records of a file of format 2 from its beginning, or that of a block, each held to its place. Not thread-safe. */
final class Records {
    static final byte[] MAGIC = {'M', 'R', 'S', 'K'};
    static final byte[] END = {'K', 'S', 'R', 'M'};
    static final int FORMAT = 2;
    static final int HEADER_BYTES = 16;
    static final int HEAD_BYTES = 8; // of a record
    static final int FOOTER_BYTES = 12;
    private static final int KIND_SHIFT = 30;

    /** What a record holds. */
    enum Kind {
        SEGMENT,
        ANNOUNCEMENT,
        INDEX
    }

    /**
     * A record.
     *
     * @param at where it begins in the file
     * @param bytes what it holds
     */
    record Entry(Kind kind, long at, byte[] bytes) {}

    private final Path path;
    private final InputStream in;
    private final long size; // of the file
    private long at;
    private int chain;
    private long segments; // so far
    private boolean complete; // whether an index and its footer came last

    Records(Path path, InputStream in, long size, long at, int chain, long segments) {
        this.path = path;
        this.in = in;
        this.size = size;
        this.at = at;
        this.chain = chain;
        this.segments = segments;
    }

    /** Where the next record begins: what is before is whole. */
    long at() {
        return at;
    }

    int chain() {
        return chain;
    }

    long segments() {
        return segments;
    }

    /**
     * The next record; empty at the end of a file that is whole.
     *
     * @throws MillraceException DATA_CORRUPTED if the file was cut here, or this is not what was written at this place
     */
    Optional<Entry> next() throws IOException {
        if (at == size) {
            if (!complete) {
                throw cut();
            }
            return Optional.empty();
        }
        if (size - at < HEAD_BYTES) {
            throw cut();
        }
        ByteBuffer head = ByteBuffer.wrap(read(HEAD_BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        int tagged = head.getInt();
        int kind = tagged >>> KIND_SHIFT;
        int length = tagged & (1 << KIND_SHIFT) - 1;
        boolean possible = kind < Kind.values().length && length > 0 && length <= Limits.SEGMENT_BYTES;
        int extra = kind == Kind.INDEX.ordinal() ? FOOTER_BYTES : 0;
        if (possible && length + extra > size - at - HEAD_BYTES) {
            throw cut();
        }
        if (!possible) {
            throw other();
        }
        byte[] bytes = read(length);
        int next = chained(chain, tagged, bytes);
        if (next != head.getInt()) {
            throw other();
        }
        if (extra > 0 && !Arrays.equals(read(extra), footer(at))) {
            throw other();
        }
        Entry entry = new Entry(Kind.values()[kind], at, bytes);
        chain = next;
        at += HEAD_BYTES + length + extra;
        complete = entry.kind() == Kind.INDEX;
        segments += entry.kind() == Kind.SEGMENT ? 1 : 0;
        return Optional.of(entry);
    }

    private byte[] read(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("it became shorter while it was read");
        }
        return bytes;
    }

    private MillraceException cut() {
        return MillraceException.user(
                        SqlState.DATA_CORRUPTED, path + " was cut behind segment " + segments + ", or is being written")
                .withHint("./millrace sketch recover keeps the " + segments + " segments that are whole.");
    }

    private MillraceException other() {
        return MillraceException.user(
                        SqlState.DATA_CORRUPTED,
                        path + " is damaged at segment " + (segments + 1)
                                + ": it is not what was written there, or something before it is missing")
                .withHint("./millrace sketch recover keeps the " + segments + " segments before it.");
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw MillraceException.user(SqlState.DATA_CORRUPTED, "the file of sketches is damaged: " + what);
        }
    }

    static int tagged(Kind kind, int length) {
        return kind.ordinal() << KIND_SHIFT | length;
    }

    /** The checksum of a record and of all before it. */
    static int chained(int before, int tagged, byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(before)
                .putInt(tagged)
                .flip());
        crc.update(bytes);
        return (int) crc.getValue();
    }

    static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    /** What ends a file that is whole: where its last index begins. */
    static byte[] footer(long indexAt) {
        return ByteBuffer.allocate(FOOTER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(indexAt)
                .put(END)
                .array();
    }
}
