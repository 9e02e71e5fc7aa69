package dev.millrace.connectors.parquet;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import org.apache.parquet.format.CompressionCodec;
import org.xerial.snappy.Snappy;

/** Unpacks pages, to exactly as many bytes as they say, between buffers outside of the heap. */
final class PagePacking {
    private static final int GZIP_HEADER = 10;

    private PagePacking() {}

    /** @param to has as many bytes as must come of it */
    static void unpack(CompressionCodec codec, ByteBuffer from, ByteBuffer to) throws ParquetDamage {
        int expected = to.remaining();
        long unpacked;
        try {
            unpacked = switch (codec) {
                case SNAPPY -> snappy(from, to);
                case ZSTD -> Zstd.decompressDirectByteBuffer(to, 0, expected, from, 0, from.remaining());
                case GZIP -> gzip(from, to);
                case LZ4_RAW -> {
                    LZ4Factory.fastestInstance().safeDecompressor().decompress(from, to);
                    yield expected - to.remaining();
                }
                default ->
                    throw MillraceException.user(
                                    SqlState.FEATURE_NOT_SUPPORTED,
                                    "pages that are packed by " + codec + " are not read")
                            .withHint("zstd, snappy, gzip and lz4_raw are");
            };
        } catch (IOException | DataFormatException | ZstdException | LZ4Exception e) {
            throw new ParquetDamage("a page cannot be unpacked: " + e.getMessage());
        }
        if (codec == CompressionCodec.ZSTD && Zstd.isError(unpacked)) {
            throw new ParquetDamage("a page cannot be unpacked: " + Zstd.getErrorName(unpacked));
        }
        ParquetDamage.check(unpacked == expected, "a page has " + unpacked + " bytes and not " + expected);
    }

    private static long snappy(ByteBuffer from, ByteBuffer to) throws IOException {
        if (!Snappy.isValidCompressedBuffer(from) || Snappy.uncompressedLength(from) != to.remaining()) {
            throw new IOException("it is not what it says");
        }
        return Snappy.uncompress(from, to);
    }

    /** One member without what its header may have besides, as writers of Parquet make it; or several. */
    private static long gzip(ByteBuffer from, ByteBuffer to) throws IOException, DataFormatException {
        long before = to.remaining();
        while (from.remaining() > GZIP_HEADER && to.hasRemaining()) {
            header(from);
            Inflater inflater = new Inflater(true);
            try {
                inflater.setInput(from);
                while (!inflater.finished() && (inflater.inflate(to) > 0 || inflater.finished())) {
                    // on, as long as there is room and something comes
                }
                // Behind the last byte may be what says that it was the last.
                if (!inflater.finished() && inflater.inflate(new byte[1]) > 0 || !inflater.finished()) {
                    throw new IOException("it has more or fewer bytes than it says");
                }
            } finally {
                inflater.end();
            }
            from.position(Math.min(from.limit(), from.position() + 8)); // a sum and a length
        }
        return before - to.remaining();
    }

    private static void header(ByteBuffer from) throws IOException {
        int start = from.position();
        boolean isGzip = (from.get(start) & 0xff) == 0x1f && (from.get(start + 1) & 0xff) == 0x8b;
        int flags = from.get(start + 3);
        if (!isGzip || from.get(start + 2) != 8 || (flags & 0xe0) != 0) {
            throw new IOException("it is no gzip");
        }
        from.position(start + GZIP_HEADER);
        if ((flags & 4) != 0) {
            int length = take(from) | take(from) << 8;
            for (int i = 0; i < length; i++) {
                take(from);
            }
        }
        for (int text = (flags & 8) + (flags & 16); text > 0; text -= text >= 16 ? 16 : 8) {
            while (take(from) != 0) {
                // to the end of a name or comment
            }
        }
        if ((flags & 2) != 0) {
            take(from);
            take(from);
        }
    }

    private static int take(ByteBuffer from) throws IOException {
        if (!from.hasRemaining()) {
            throw new IOException("it ends early");
        }
        return from.get() & 0xff;
    }
}
