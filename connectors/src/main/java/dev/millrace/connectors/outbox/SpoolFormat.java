package dev.millrace.connectors.outbox;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.zip.CRC32C;

/** Names and bytes of files of records; see the package. */
final class SpoolFormat {
    static final int HEADER_BYTES = 20;
    static final int RECORD_HEAD_BYTES = 8;

    /** Of one record; a transport takes less. */
    static final int MOST_RECORD_BYTES = 256 << 20;

    private static final int MAGIC = 0x4d525350; // "MRSP"
    private static final int VERSION = 1;
    private static final String SUFFIX = ".spool";

    private SpoolFormat() {}

    static String name(long number) {
        return String.format("%016x", number) + SUFFIX;
    }

    /** The number of a file by its name; none of a file that is none of records. */
    static OptionalLong number(Path file) {
        String name = String.valueOf(file.getFileName());
        if (name.length() != 16 + SUFFIX.length() || !name.endsWith(SUFFIX)) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(name.substring(0, 16), 16));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** Writes how a file begins. */
    static void putHeader(ByteBuffer to, long number) {
        int from = to.position();
        to.putInt(MAGIC).putInt(VERSION).putLong(number);
        CRC32C crc = new CRC32C();
        crc.update(to.duplicate().flip().position(from));
        to.putInt((int) crc.getValue());
    }

    /** @throws MillraceException XX001 if it is not how the file begins */
    static void requireHeader(ByteBuffer header, Path file, long number) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().limit(header.position() + HEADER_BYTES - 4));
        int magic = header.getInt();
        int version = header.getInt();
        long found = header.getLong();
        if (header.getInt() != (int) crc.getValue() || magic != MAGIC) {
            throw damaged(file, 0, "does not begin as a file of records does");
        }
        if (version != VERSION) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    file + " is of version " + version + "; this release reads " + VERSION);
        }
        if (found != number) {
            throw damaged(file, 8, "is file " + found + " by what it says");
        }
    }

    /** Of a record's length and bytes. */
    static int checksum(byte[] bytes, int offset, int length) {
        CRC32C crc = new CRC32C();
        crc.update(length >>> 24);
        crc.update(length >>> 16);
        crc.update(length >>> 8);
        crc.update(length);
        crc.update(bytes, offset, length);
        return (int) crc.getValue();
    }

    static MillraceException damaged(Path file, long at, String how) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, file + " is damaged: at byte " + at + " it " + how)
                .withHint("put it back from a copy of the data directory; or DROP SINK, and make it again");
    }
}
