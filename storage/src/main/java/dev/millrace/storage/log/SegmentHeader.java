package dev.millrace.storage.log;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.OptionalLong;
import java.util.zip.CRC32C;

/**
 * The first block of a segment, as the package describes it.
 *
 * @param size length of the file in bytes
 * @param end where what this goes on from ends
 * @param lastWhole number of the last whole record before it
 * @param cut where that record ends: {@code end}, unless a record is under way from the one segment to the other
 */
record SegmentHeader(long identity, long number, long size, LogPlace end, long lastWhole, LogPlace cut) {
    static final int BYTES = 4096;
    static final int VERSION = 1;
    private static final byte[] MAGIC = "MrLogSeg".getBytes(StandardCharsets.US_ASCII);
    private static final int CHECKED_FROM = 16;
    private static final String PREFIX = "segment-";
    private static final String SUFFIX = ".log";

    static String name(long number) {
        return String.format("%s%012d%s", PREFIX, number, SUFFIX);
    }

    /** The number of a segment by its name; empty for other files. */
    static OptionalLong numberOf(String name) {
        if (name.startsWith(PREFIX) && name.endsWith(SUFFIX)) {
            String digits = name.substring(PREFIX.length(), name.length() - SUFFIX.length());
            if (digits.matches("[0-9]{12,18}")) {
                return OptionalLong.of(Long.parseLong(digits));
            }
        }
        return OptionalLong.empty();
    }

    /** Whether no record is under way where the segment begins. */
    boolean beginsWithRecord() {
        return cut.equals(end);
    }

    ByteBuffer bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(MAGIC).putInt(VERSION).putInt(0);
        bytes.putLong(identity).putLong(number).putLong(size);
        bytes.putLong(end.segment()).putLong(end.offset());
        bytes.putLong(lastWhole).putLong(cut.segment()).putLong(cut.offset());
        return bytes.putInt(12, crc(bytes)).rewind();
    }

    /** What the checksums of the segment's fragments begin with. */
    int seed() {
        return crc(bytes());
    }

    /**
     * Reads the header of a segment, and holds the file's length to it.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is missing or damaged, F0000 if it is of a later version
     */
    static SegmentHeader read(Disk disk, long identity, long number) throws IOException {
        String path = disk.path(name(number));
        try (DiskFile file = disk.open(name(number))) {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.read(bytes, 0);
            bytes.flip();
            LogFileTitle.checkTitle(path, bytes, MAGIC, VERSION);
            if (bytes.limit() < BYTES) {
                throw DiskErrors.damaged(path, bytes.limit(), "it ends within its header");
            }
            if (bytes.getInt(12) != crc(bytes)) {
                throw DiskErrors.damaged(path, CHECKED_FROM, "the checksum of its header does not fit");
            }
            SegmentHeader header = new SegmentHeader(
                    bytes.getLong(16),
                    bytes.getLong(24),
                    bytes.getLong(32),
                    new LogPlace(bytes.getLong(40), bytes.getLong(48)),
                    bytes.getLong(56),
                    new LogPlace(bytes.getLong(64), bytes.getLong(72)));
            header.check(path, identity, number, file.size());
            return header;
        } catch (NoSuchFileException e) {
            throw DiskErrors.missing(path, "the log has a segment of this number");
        }
    }

    private void check(String path, long ofLog, long ofName, long length) {
        if (identity != ofLog) {
            throw DiskErrors.damaged(path, CHECKED_FROM, "it is of another log");
        }
        if (number != ofName) {
            throw DiskErrors.damaged(path, 24, "it is segment " + number);
        }
        if (length != size) {
            throw DiskErrors.damaged(
                    path, Math.min(length, size), "it has " + length + " bytes, and " + size + " were written");
        }
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), CHECKED_FROM, BYTES - CHECKED_FROM);
        return (int) crc.getValue();
    }
}
