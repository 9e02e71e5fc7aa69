package dev.millrace.storage.snapshot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Reads a section of a snapshot from its beginning to its end. For one thread. Errors are those of {@link SnapshotReader}. */
public final class SectionReader {
    private final SnapshotReader file;
    private final SnapshotSection section;
    private final CRC32C checksums = new CRC32C();
    private final ByteBuffer block;
    private long position;
    private long unread; // bytes of the blocks that were not read
    private int index;

    SectionReader(SnapshotReader file, SnapshotSection section) {
        this.file = file;
        this.section = section;
        this.position = section.offset();
        this.unread = section.bytes();
        int contents = (int) Math.min(SnapshotBlock.MOST, section.bytes());
        this.block = ByteBuffer.allocate(SnapshotBlock.HEADER + contents)
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
    }

    /** Bytes of the section that were not taken yet. */
    public long remaining() {
        return unread + block.remaining();
    }

    /**
     * Fills a buffer, or takes what is left of the section.
     *
     * @return how many bytes; fewer than there was room for only at the end
     */
    public int read(ByteBuffer into) {
        int before = into.position();
        while (into.hasRemaining() && remaining() > 0) {
            if (!block.hasRemaining()) {
                next();
            }
            int count = Math.min(into.remaining(), block.remaining());
            into.put(block.slice(block.position(), count));
            block.position(block.position() + count);
        }
        return into.position() - before;
    }

    private void next() {
        int contents = (int) Math.min(SnapshotBlock.MOST, unread);
        file.readBlock(section, index++, contents, position, block);
        position += block.limit();
        unread -= contents;
        SnapshotBlock.add(checksums, block.getInt(0));
        if (unread == 0 && (int) checksums.getValue() != section.checksum()) {
            throw file.otherBlocks(section);
        }
        block.position(SnapshotBlock.HEADER);
    }
}
