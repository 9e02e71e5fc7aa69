package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/** One file of the queue, as the package's description says. Of one thread. */
final class QueueFile implements AutoCloseable {
    static final int HEADER_BYTES = 48;
    static final int MOST_COMMIT_BYTES = 64 << 20;
    private static final byte[] MAGIC = {'M', 'r', 'E', 'd', 'g', 'e', 'Q', 'u'};
    private static final int VERSION =
            4; // the first had no counts, the second no rejected records, the third no groups of windows
    private static final int COMMIT_HEAD = 8;

    private final Disk disk;
    private final DiskFile file;
    private final Header header;
    private long end; // of the last whole commit
    private int chain; // the checksum of that
    private long live; // bytes of records that wait

    /** What a file says of itself. */
    record Header(long identity, long number, long endBefore) {}

    private QueueFile(Disk disk, DiskFile file, Header header, int chain) {
        this.disk = disk;
        this.file = file;
        this.header = header;
        this.chain = chain;
        this.end = HEADER_BYTES;
    }

    static String name(long number) {
        return String.format("queue-%010d.log", number);
    }

    static QueueFile create(Disk disk, Header header) throws IOException {
        String name = name(header.number());
        if (disk.has(name)) {
            disk.delete(name); // of a try that failed
        }
        DiskFile file = disk.create(name);
        try {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES);
            bytes.put(MAGIC).putInt(VERSION).putInt(0);
            bytes.putLong(header.identity())
                    .putLong(header.number())
                    .putLong(header.endBefore())
                    .putLong(0);
            int checksum = checksum(0, bytes.array(), 16, HEADER_BYTES - 16);
            bytes.putInt(12, checksum);
            file.write(bytes.flip(), 0);
            return new QueueFile(disk, file, header, checksum);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** A file that is there; none if it has no header, as one whose making was cut off. */
    static Optional<QueueFile> open(Disk disk, String name) throws IOException {
        DiskFile file = disk.open(name);
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES);
        boolean whole = file.read(bytes, 0) == HEADER_BYTES
                && Arrays.equals(bytes.array(), 0, MAGIC.length, MAGIC, 0, MAGIC.length);
        if (whole && bytes.getInt(8) > VERSION && bytes.getInt(8) < 1000) {
            file.close();
            throw DiskErrors.tooNew(disk.path(name), bytes.getInt(8), VERSION);
        }
        int checksum = checksum(0, bytes.array(), 16, HEADER_BYTES - 16);
        if (!whole || bytes.getInt(8) < 1 || bytes.getInt(8) > VERSION || bytes.getInt(12) != checksum) {
            file.close();
            return Optional.empty();
        }
        Header header = new Header(bytes.getLong(16), bytes.getLong(24), bytes.getLong(32));
        return Optional.of(new QueueFile(disk, file, header, checksum));
    }

    /** The parts of the next commit; none where the file ends, or what follows is not whole. */
    Optional<byte[]> next(long until) throws IOException {
        if (end + COMMIT_HEAD > until) {
            return Optional.empty();
        }
        ByteBuffer head = ByteBuffer.allocate(COMMIT_HEAD);
        if (file.read(head, end) < COMMIT_HEAD) {
            return Optional.empty();
        }
        int length = head.getInt(0);
        if (length <= 0 || length > MOST_COMMIT_BYTES || length > until - end - COMMIT_HEAD) {
            return Optional.empty();
        }
        ByteBuffer parts = ByteBuffer.allocate(length);
        if (file.read(parts, end + COMMIT_HEAD) < length
                || head.getInt(4) != checksum(chain, parts.array(), 0, length)) {
            return Optional.empty();
        }
        chain = head.getInt(4);
        end += COMMIT_HEAD + length;
        return Optional.of(parts.array());
    }

    private static int checksum(int before, byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(8).putInt(before).putInt(length).flip());
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    /**
     * Adds a commit, on disk when this returns.
     *
     * @return where its parts begin
     */
    long append(byte[] parts) throws IOException {
        if (parts.length > MOST_COMMIT_BYTES) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a commit of " + parts.length + " bytes is more than the queue takes at once");
        }
        int checksum = checksum(chain, parts, 0, parts.length);
        ByteBuffer head = ByteBuffer.allocate(COMMIT_HEAD).putInt(parts.length).putInt(checksum);
        file.write(head.flip(), end);
        file.write(ByteBuffer.wrap(parts), end + COMMIT_HEAD);
        file.force();
        long at = end + COMMIT_HEAD;
        end = at + parts.length;
        chain = checksum;
        return at;
    }

    byte[] read(long at, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        if (file.read(bytes, at) < length) {
            throw DiskErrors.damaged(disk.path(name(header.number())), at, "it ends there");
        }
        return bytes.array();
    }

    Header header() {
        return header;
    }

    long end() {
        return end;
    }

    long length() throws IOException {
        return file.size();
    }

    /** Cuts off what is behind the last whole commit. */
    void cut() throws IOException {
        if (file.size() > end) {
            file.truncate(end);
            file.force();
        }
    }

    long live() {
        return live;
    }

    void addLive(long bytes) {
        live += bytes;
    }

    void delete() throws IOException {
        close();
        disk.delete(name(header.number()));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
