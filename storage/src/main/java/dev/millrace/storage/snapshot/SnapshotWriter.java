package dev.millrace.storage.snapshot;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * Writes a snapshot from its beginning to its end. For one thread.
 *
 * <pre>{@code
 * try (SnapshotWriter out = SnapshotWriter.create(disk, name)) {
 *     out.section("public.t");
 *     out.write(bytes);              // as often as it takes
 *     SnapshotFile file = out.finish();
 * }                                  // removed if it was not finished
 * }</pre>
 *
 * All methods throw 53100 where the disk is full, 58030 where it fails otherwise; and what {@link Interrupt} says, at each block.
 */
public final class SnapshotWriter implements AutoCloseable {
    private static final int MOST_NAME = 0xFFFF;

    private final Disk disk;
    private final String name;
    private final DiskFile file;
    private final ByteBuffer block =
            ByteBuffer.allocateDirect(SnapshotBlock.HEADER + SnapshotBlock.MOST).order(ByteOrder.LITTLE_ENDIAN);
    private final List<SnapshotSection> sections = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final CRC32C checksums = new CRC32C(); // of the section's blocks
    private String section = "";
    private long sectionOffset;
    private long sectionBytes;
    private boolean inSection;
    private int blockIndex;
    private long position = SnapshotBlock.FILE_HEADER;
    private boolean finished;

    private SnapshotWriter(Disk disk, String name, DiskFile file) {
        this.disk = disk;
        this.name = name;
        this.file = file;
    }

    /** Begins a file that is not there yet. */
    public static SnapshotWriter create(Disk disk, String name) {
        try {
            SnapshotWriter writer = new SnapshotWriter(disk, name, disk.create(name));
            try {
                writer.writeHeader();
            } catch (IOException | RuntimeException e) {
                writer.close();
                throw e;
            }
            return writer;
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(name), e);
        }
    }

    private void writeHeader() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(SnapshotBlock.FILE_HEADER).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(SnapshotBlock.FILE_MAGIC).putInt(SnapshotBlock.VERSION);
        header.putInt(SnapshotBlock.crc(header, 16, SnapshotBlock.FILE_HEADER)).rewind();
        file.write(header, 0);
    }

    /** Ends the section before and begins another; its name is not that of any before it. */
    public void section(String newName) {
        int length = newName.getBytes(StandardCharsets.UTF_8).length;
        if (finished || length > MOST_NAME || !names.add(newName)) {
            throw new IllegalArgumentException("no section can begin here that is called " + newName);
        }
        endSection();
        inSection = true;
        section = newName;
        sectionOffset = position;
        sectionBytes = 0;
        blockIndex = 0;
        checksums.reset();
        block.clear().position(SnapshotBlock.HEADER);
    }

    /** Appends what remains of a buffer to the section. */
    public void write(ByteBuffer bytes) {
        if (!inSection) {
            throw new IllegalStateException("no section has begun");
        }
        while (bytes.hasRemaining()) {
            int count = Math.min(bytes.remaining(), block.remaining());
            block.put(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
            if (!block.hasRemaining()) {
                endBlock();
            }
        }
    }

    private void endBlock() {
        Interrupt.checkCurrent();
        int length = block.position() - SnapshotBlock.HEADER;
        block.flip();
        block.putInt(4, length).putInt(8, sections.size()).putInt(12, blockIndex++);
        int checksum = SnapshotBlock.checksum(block, position);
        block.putInt(0, checksum);
        SnapshotBlock.add(checksums, checksum);
        put(block);
        sectionBytes += length;
        block.clear().position(SnapshotBlock.HEADER);
    }

    private void put(ByteBuffer bytes) {
        int length = bytes.remaining();
        try {
            file.write(bytes, position);
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(name), e);
        }
        position += length;
    }

    private void endSection() {
        if (inSection) {
            if (block.position() > SnapshotBlock.HEADER) {
                endBlock();
            }
            sections.add(new SnapshotSection(
                    sections.size(), section, sectionOffset, sectionBytes, (int) checksums.getValue()));
            inSection = false;
        }
    }

    /** Ends the file; when this returns, its contents last, and its name as soon as {@link Disk#forceNames} has been called. */
    public SnapshotFile finish() {
        endSection();
        long tableOffset = position;
        ByteBuffer table = table();
        int tableCrc = SnapshotBlock.crc(table, 0, table.limit());
        put(table);
        ByteBuffer trailer = ByteBuffer.allocate(SnapshotBlock.TRAILER).order(ByteOrder.LITTLE_ENDIAN);
        trailer.putLong(tableOffset).putLong(position + SnapshotBlock.TRAILER);
        trailer.putInt(sections.size()).putInt(0).putInt(tableCrc);
        int checksum = SnapshotBlock.crc(trailer, 0, 28);
        trailer.putInt(checksum).putLong(SnapshotBlock.END_MAGIC).flip();
        put(trailer);
        try {
            file.force();
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(name), e);
        }
        finished = true;
        return new SnapshotFile(name, position, checksum);
    }

    private ByteBuffer table() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (SnapshotSection each : sections) {
            byte[] text = each.name().getBytes(StandardCharsets.UTF_8);
            ByteBuffer entry =
                    ByteBuffer.allocate(SnapshotBlock.TABLE_ENTRY + text.length).order(ByteOrder.LITTLE_ENDIAN);
            entry.putLong(each.offset()).putLong(each.bytes()).putInt(each.checksum());
            entry.putShort((short) text.length).put(text);
            all.writeBytes(entry.array());
        }
        return ByteBuffer.wrap(all.toByteArray());
    }

    /** Lets go of the file, and removes it unless it was finished. */
    @Override
    public void close() {
        try {
            file.close();
            if (!finished) {
                disk.delete(name);
            }
        } catch (IOException e) {
            if (finished) {
                return; // it is on disk
            }
            throw DiskErrors.failed("remove " + disk.path(name), e);
        }
    }
}
