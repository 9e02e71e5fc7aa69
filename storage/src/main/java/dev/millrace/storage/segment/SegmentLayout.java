package dev.millrace.storage.segment;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The lengths and checksums of the format. */
final class SegmentLayout {
    static final int VERSION = 1;
    static final int HEADER = 32;
    static final int TRAILER = 48;
    static final int CHECKED_TRAILER = 36;
    static final int BLOCK_ROWS = 32_768;
    static final int MOST_FOOTER = 1 << 30;
    static final long FILE_MAGIC = magic("MrColumn");
    static final long END_MAGIC = magic("MrColEnd");
    private static final int SPREAD = 0x9E3779B1;

    private SegmentLayout() {}

    private static long magic(String text) {
        long magic = 0;
        for (int i = 7; i >= 0; i--) {
            magic = magic << 8 | text.charAt(i);
        }
        return magic;
    }

    /** What bytes from position to limit, which stay as they are, have as their checksum at an offset of a file. */
    static int checksum(ByteBuffer bytes, long offset) {
        return crc(bytes) ^ (int) offset * SPREAD;
    }

    /** CRC of bytes from position to limit, which stay as they are. */
    static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }
}
