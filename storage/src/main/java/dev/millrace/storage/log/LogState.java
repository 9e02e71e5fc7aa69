package dev.millrace.storage.log;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The file {@code log.state}, as the package describes it.
 *
 * @param closedAt where the newest segment ended when the log was closed, 0 if it was not
 */
record LogState(long identity, long first, long newest, long durable, long closedAt) {
    static final String NAME = "log.state";
    static final int VERSION = 1;
    private static final byte[] MAGIC = "MrLogSta".getBytes(StandardCharsets.US_ASCII);
    private static final int BYTES = 96;
    private static final int CHECKED_FROM = 16;

    void write(Disk disk) throws IOException {
        WholeFile.write(disk, NAME, bytes());
    }

    /** All of the file. */
    ByteBuffer bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(MAGIC).putInt(VERSION).putInt(0);
        bytes.putLong(identity).putLong(first).putLong(newest).putLong(durable).putLong(closedAt);
        return bytes.putInt(12, crc(bytes)).rewind();
    }

    /** Takes the room that the next {@link #write} needs. */
    static void takeRoom(Disk disk) throws IOException {
        WholeFile.takeRoom(disk, NAME, BYTES);
    }

    /**
     * Reads it.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged, F0000 if it is of a later version
     */
    static LogState read(Disk disk) throws IOException {
        String path = disk.path(NAME);
        ByteBuffer bytes = WholeFile.read(disk, NAME, BYTES).order(ByteOrder.LITTLE_ENDIAN);
        LogFileTitle.checkTitle(path, bytes, MAGIC, VERSION);
        if (bytes.limit() != BYTES) {
            throw DiskErrors.damaged(
                    path, bytes.limit(), "it ends there, and has " + BYTES + " bytes when it is whole");
        }
        if (bytes.getInt(12) != crc(bytes)) {
            throw DiskErrors.damaged(path, CHECKED_FROM, "its checksum does not fit");
        }
        return new LogState(
                bytes.getLong(16), bytes.getLong(24), bytes.getLong(32), bytes.getLong(40), bytes.getLong(48));
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), CHECKED_FROM, BYTES - CHECKED_FROM);
        return (int) crc.getValue();
    }
}
