package dev.millrace.storage.batch;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import org.apache.arrow.memory.BufferAllocator;

/** Writes batches as bytes, of the form that the package describes, and reads them. Safe on any thread. */
public final class BatchBytes {
    private static final byte VERSION = 1;
    private static final int WEIGHTS = 1;
    private static final int COMPRESSED = 2;
    private static final int HEADER_BYTES = 14;

    /** Shorter bodies are left as they are: a few rows that somebody waits for. */
    private static final int SHORT_BYTES = 16 << 10;

    private static final LZ4Factory LZ4 = LZ4Factory.fastestInstance();

    private BatchBytes() {}

    /**
     * The bytes of a batch, which stays the caller's; from position 0 to the limit.
     *
     * @throws MillraceException 54000 if they are more than an array holds, some 2 GB
     */
    public static ByteBuffer write(Batch batch) {
        return write(batch, 0, batch.rowCount());
    }

    /** The same of some of its rows, as a batch of their own. */
    public static ByteBuffer write(Batch batch, int from, int rows) {
        ColumnBytes columns = new ColumnBytes(batch, from, rows);
        long length = columns.length();
        if (length > Integer.MAX_VALUE - HEADER_BYTES - 8) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "a batch of " + length + " bytes cannot be written: 2 GB at most");
        }
        byte[] bytes = new byte[HEADER_BYTES + (int) length];
        columns.write(bytes, HEADER_BYTES);
        int flags = batch.weights().isPresent() ? WEIGHTS : 0;
        if (length >= SHORT_BYTES) {
            LZ4Compressor compressor = LZ4.fastCompressor();
            byte[] packed = new byte[HEADER_BYTES + (int) length - (int) (length >>> 3)]; // else it does not pay
            try {
                int packedLength = compressor.compress(
                        bytes, HEADER_BYTES, (int) length, packed, HEADER_BYTES, packed.length - HEADER_BYTES);
                return header(packed, flags | COMPRESSED, batch, rows, (int) length)
                        .limit(HEADER_BYTES + packedLength);
            } catch (LZ4Exception e) {
                return header(bytes, flags, batch, rows, (int) length);
            }
        }
        return header(bytes, flags, batch, rows, (int) length);
    }

    private static ByteBuffer header(byte[] bytes, int flags, Batch batch, int rows, int length) {
        return ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(VERSION)
                .put((byte) flags)
                .putInt(hash(batch.schema()))
                .putInt(rows)
                .putInt(length)
                .rewind();
    }

    /** How many rows a batch has, by its bytes, which are whole. */
    public static int rows(ByteBuffer bytes) {
        return bytes.slice().order(ByteOrder.LITTLE_ENDIAN).getInt(2 + Integer.BYTES);
    }

    /** What the columns' types are, for who must not take one for another. */
    public static int hash(Schema schema) {
        CRC32C crc = new CRC32C();
        for (int column = 0; column < schema.size(); column++) {
            crc.update((schema.type(column) + ";").getBytes(StandardCharsets.UTF_8));
        }
        return (int) crc.getValue();
    }

    /**
     * Reads a batch.
     *
     * @param bytes from position to limit; the position is of no account afterwards
     * @param schema with the types that it was written with; the names may be others
     * @return the caller's
     * @throws MillraceException XX001 if it is damaged, or of other types; F0000 if a later version wrote it; 53200
     */
    public static Batch read(ByteBuffer bytes, Schema schema, BufferAllocator allocator) {
        ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (in.remaining() < HEADER_BYTES) {
            throw damaged("it has " + in.remaining() + " bytes");
        }
        byte version = in.get();
        if (version != VERSION) {
            throw MillraceException.external(
                    SqlState.CONFIG_FILE_ERROR, "a batch of version " + version + " was written by a later version");
        }
        int flags = in.get();
        int hash = in.getInt();
        int rows = in.getInt();
        int length = in.getInt();
        if (hash != hash(schema)) {
            throw damaged("its columns are of other types than (" + schema + ")");
        }
        if ((flags & ~(WEIGHTS | COMPRESSED)) != 0 || rows < 0 || length < 0) {
            throw damaged("its header does not hold");
        }
        return new ColumnReader(body(in, flags, length), allocator).read(schema, rows, (flags & WEIGHTS) != 0);
    }

    private static ByteBuffer body(ByteBuffer in, int flags, int length) {
        if ((flags & COMPRESSED) == 0) {
            if (in.remaining() != length) {
                throw damaged("its body has " + in.remaining() + " bytes, not " + length);
            }
            return in.slice().order(ByteOrder.LITTLE_ENDIAN);
        }
        if (length / 256 > in.remaining()) { // which LZ4 does not reach
            throw damaged("its body cannot have " + length + " bytes");
        }
        byte[] body = new byte[length];
        try {
            byte[] packed = new byte[in.remaining()];
            in.get(packed);
            int unpacked = LZ4.safeDecompressor().decompress(packed, 0, packed.length, body, 0, length);
            if (unpacked != length) {
                throw damaged("its body has " + unpacked + " bytes, not " + length);
            }
        } catch (LZ4Exception e) {
            throw damaged("its body cannot be decompressed");
        }
        return ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
    }

    static MillraceException damaged(String how) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, "a batch is damaged: " + how);
    }
}
