package dev.millrace.connectors.compression;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;
import org.xerial.snappy.Snappy;
import org.xerial.snappy.SnappyFramedInputStream;

/** How values are packed. */
enum Compression {
    NONE,
    GZIP,
    ZSTD,
    /** In LZ4's frame format. */
    LZ4,
    /** One block of Snappy, or its framing format, or the blocks that Java's streams write. */
    SNAPPY,
    /** What the first bytes of each value say, or not at all. */
    AUTO;

    private static final int GZIP_MAGIC = 0x1f8b;
    private static final int ZSTD_MAGIC = 0x28b52ffd;
    private static final int LZ4_MAGIC = 0x04224d18;
    private static final byte[] SNAPPY_FRAMES = {(byte) 0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};
    private static final byte[] SNAPPY_BLOCKS = {(byte) 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    private static final int SNAPPY_BLOCKS_HEAD = 16;
    private static final int PIECE_BYTES = 16 << 10;

    /** How a value is packed that may be packed in any way; {@link #NONE} if its first bytes do not say it. */
    static Compression of(byte[] value) {
        if (value.length < 4) {
            return NONE;
        }
        int magic = ByteBuffer.wrap(value).getInt();
        if (magic >>> 16 == GZIP_MAGIC) {
            return GZIP;
        }
        if (magic == ZSTD_MAGIC) {
            return ZSTD;
        }
        if (magic == LZ4_MAGIC) {
            return LZ4;
        }
        return begins(value, SNAPPY_FRAMES) || begins(value, SNAPPY_BLOCKS) ? SNAPPY : NONE;
    }

    private static boolean begins(byte[] value, byte[] with) {
        return value.length >= with.length && Arrays.equals(value, 0, with.length, with, 0, with.length);
    }

    /**
     * Appends the unpacked value.
     *
     * @throws MillraceException of the user if it is damaged or too long: part of it may have been appended
     */
    void unpack(byte[] value, TextBuffer into, long mostBytes) {
        try {
            switch (this) {
                case NONE -> into.append(value);
                case GZIP -> copy(new GZIPInputStream(new ByteArrayInputStream(value)), into, mostBytes);
                case ZSTD -> copy(new ZstdInputStreamNoFinalizer(new ByteArrayInputStream(value)), into, mostBytes);
                case LZ4 -> copy(new LZ4FrameInputStream(new ByteArrayInputStream(value)), into, mostBytes);
                case SNAPPY -> unpackSnappy(value, into, mostBytes);
                case AUTO -> of(value).unpack(value, into, mostBytes);
            }
        } catch (IOException | RuntimeException e) {
            if (e instanceof MillraceException known) {
                throw known;
            }
            throw damaged(String.valueOf(e.getMessage()));
        }
    }

    private static void copy(InputStream from, TextBuffer into, long mostBytes) throws IOException {
        try (from) {
            byte[] piece = new byte[PIECE_BYTES];
            long total = 0;
            for (int read = from.read(piece); read >= 0; read = from.read(piece)) {
                total += read;
                requireRoom(total, mostBytes);
                into.append(read == piece.length ? piece : Arrays.copyOf(piece, read));
            }
        }
    }

    private static void unpackSnappy(byte[] value, TextBuffer into, long mostBytes) throws IOException {
        if (begins(value, SNAPPY_FRAMES)) {
            copy(new SnappyFramedInputStream(new ByteArrayInputStream(value)), into, mostBytes);
        } else if (begins(value, SNAPPY_BLOCKS)) {
            long total = 0;
            ByteBuffer in = ByteBuffer.wrap(value);
            in.position(Math.min(value.length, SNAPPY_BLOCKS_HEAD));
            while (in.hasRemaining()) {
                int length = in.remaining() < 4 ? -1 : in.getInt();
                if (length < 0 || length > in.remaining()) {
                    throw damaged("a block of " + length + " bytes");
                }
                byte[] block = new byte[length];
                in.get(block);
                total += unpackBlock(block, into, mostBytes - total);
            }
        } else {
            unpackBlock(value, into, mostBytes);
        }
    }

    private static int unpackBlock(byte[] block, TextBuffer into, long mostBytes) throws IOException {
        int length = Snappy.uncompressedLength(block);
        if (length < 0) {
            throw damaged("a length below zero");
        }
        requireRoom(length, mostBytes);
        if (length > 64L * (block.length + 1L)) { // as no block of Snappy can be: a copy of 64 bytes takes two at least
            throw damaged("a block that says more than it can have");
        }
        into.append(Snappy.uncompress(block));
        return length;
    }

    private static void requireRoom(long bytes, long mostBytes) {
        if (bytes > mostBytes) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "the unpacked record is longer than " + mostBytes + " bytes")
                    .withHint("compression.max_bytes bounds it");
        }
    }

    private static MillraceException damaged(String why) {
        return MillraceException.user(SqlState.INVALID_BINARY_REPRESENTATION, "the packed record is damaged: " + why);
    }

    /** The packed value. */
    byte[] pack(byte[] value) {
        try {
            return switch (this) {
                case NONE, AUTO -> value;
                case GZIP -> packed(value, GZIPOutputStream::new);
                case ZSTD -> Zstd.compress(value);
                case LZ4 -> packed(value, LZ4FrameOutputStream::new);
                case SNAPPY -> Snappy.compress(value);
            };
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written", e);
        }
    }

    private interface Packing {
        OutputStream to(OutputStream out) throws IOException;
    }

    private static byte[] packed(byte[] value, Packing packing) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = packing.to(bytes)) {
            out.write(value);
        }
        return bytes.toByteArray();
    }
}
