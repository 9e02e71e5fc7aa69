package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The form that small files written as a whole have in common: 8 bytes that say what it is, its version in 4, the CRC-32C of all that
 * follows in 4, and that; numbers are little endian. Any thread.
 *
 * @param magic 8 characters
 * @param version that is written
 * @param oldest version that is read
 * @param what of errors: {@code manifest}
 */
public record CheckedFormat(String magic, int version, int oldest, String what) {
    /** Bytes before what a format has of its own. */
    public static final int HEAD = 16;

    private static final int VERSION_AT = 8;
    private static final int CHECKSUM_AT = 12;
    private static final int LATER_VERSIONS = 1000;

    /** One of which no other version is read. */
    public CheckedFormat(String magic, int version, String what) {
        this(magic, version, version, what);
    }

    /** The version of a file that was read. */
    public static int versionOf(ByteBuffer bytes) {
        return bytes.getInt(VERSION_AT);
    }

    /** A file of so many bytes, to be filled behind its head. */
    public ByteBuffer begin(int length) {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        return bytes.put(magicBytes()).putInt(version).putInt(0);
    }

    /** It is filled: checksummed, and to be written from 0 to its limit. */
    public ByteBuffer end(ByteBuffer bytes) {
        bytes.flip();
        return bytes.putInt(CHECKSUM_AT, checksum(bytes));
    }

    /**
     * Reads a file, to be read on behind its head.
     *
     * @param least how many bytes it has at least
     * @param most how many it may have
     * @throws dev.millrace.error.MillraceException XX001 if it is not whole, F0000 if it is of a later version
     */
    public ByteBuffer read(Disk disk, String name, int least, int most) throws IOException {
        String path = disk.path(name);
        ByteBuffer bytes = WholeFile.read(disk, name, most).order(ByteOrder.LITTLE_ENDIAN);
        DiskErrors.require(bytes.limit() >= least, path, bytes.limit(), "it ends there");
        byte[] magicBytes = magicBytes();
        boolean isOurs = Arrays.equals(magicBytes, 0, magicBytes.length, bytes.array(), 0, magicBytes.length);
        DiskErrors.require(isOurs, path, 0, "it is no " + what);
        int found = versionOf(bytes);
        if (found > version && found <= version + LATER_VERSIONS) {
            throw DiskErrors.tooNew(path, found, version);
        }
        DiskErrors.require(
                found >= oldest && found <= version, path, VERSION_AT, "there is no format version " + found);
        DiskErrors.require(bytes.getInt(CHECKSUM_AT) == checksum(bytes), path, HEAD, "its checksum does not fit");
        return bytes.position(HEAD);
    }

    private byte[] magicBytes() {
        return magic.getBytes(StandardCharsets.US_ASCII);
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), HEAD, bytes.limit() - HEAD);
        return (int) crc.getValue();
    }
}
