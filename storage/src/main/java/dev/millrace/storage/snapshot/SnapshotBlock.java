package dev.millrace.storage.snapshot;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The lengths and checksums of the format. */
final class SnapshotBlock {
    static final int HEADER = 16;
    static final int MOST = 1 << 20;
    static final int FILE_HEADER = 32;
    static final int TRAILER = 40;
    static final int TABLE_ENTRY = 22;
    static final int VERSION = 1;
    static final long FILE_MAGIC = magic("MrSnapsh");
    static final long END_MAGIC = magic("MrSnapEn");
    private static final int SPREAD = 0x9E3779B1;

    private SnapshotBlock() {}

    private static long magic(String text) {
        long magic = 0;
        for (int i = 7; i >= 0; i--) {
            magic = magic << 8 | text.charAt(i);
        }
        return magic;
    }

    /** What a block from 0 to the limit of a buffer has as its checksum at an offset of a file. */
    static int checksum(ByteBuffer block, long offset) {
        return crc(block, 4, block.limit()) ^ (int) offset * SPREAD;
    }

    /** CRC of a part of a buffer, which stays as it is. */
    static int crc(ByteBuffer bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().limit(to).position(from));
        return (int) crc.getValue();
    }

    /** A CRC goes on over one more number. */
    static void add(CRC32C crc, int number) {
        for (int shift = 0; shift < 32; shift += 8) {
            crc.update(number >>> shift);
        }
    }
}
