package dev.millrace.storage.snapshot;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a snapshot. Once it is open, safe on any thread: several sections may be read side by side, each by one.
 *
 * <p>All methods throw XX001 where the file is damaged, naming file, offset and section, and 58030 where it cannot be read; what was read
 * before is true.
 */
public final class SnapshotReader implements AutoCloseable {
    private final String path;
    private final DiskFile file;
    private final long length;
    private final List<SnapshotSection> sections = new ArrayList<>();
    private final Map<String, SnapshotSection> byName = new HashMap<>(); // they may be tens of thousands
    private int checksum;

    private SnapshotReader(String path, DiskFile file, long length) {
        this.path = path;
        this.file = file;
        this.length = length;
    }

    /** Opens a file that a manifest names, and holds it to what that says. */
    public static SnapshotReader open(Disk disk, SnapshotFile expected) {
        SnapshotReader reader = open(disk, expected.name());
        if (reader.length != expected.bytes() || reader.checksum != expected.checksum()) {
            reader.close();
            throw DiskErrors.damaged(
                    disk.path(expected.name()),
                    Math.max(0, reader.length - SnapshotBlock.TRAILER),
                    "it is not the snapshot of this name that was written");
        }
        return reader;
    }

    /** Opens a file, and reads what it says of itself; its sections are checked as they are read. F0000 if it is of a later version. */
    public static SnapshotReader open(Disk disk, String name) {
        String path = disk.path(name);
        try {
            DiskFile file = disk.open(name);
            SnapshotReader reader = new SnapshotReader(path, file, file.size());
            try {
                reader.readHeader();
                reader.readTable();
                return reader;
            } catch (IOException | RuntimeException e) {
                file.close();
                throw e;
            }
        } catch (NoSuchFileException e) {
            throw DiskErrors.missing(path, "it is a snapshot that is needed");
        } catch (IOException e) {
            throw DiskErrors.failed("read " + path, e);
        }
    }

    private void readHeader() throws IOException {
        ByteBuffer header = read(0, SnapshotBlock.FILE_HEADER);
        if (header.getLong(0) != SnapshotBlock.FILE_MAGIC) {
            throw DiskErrors.damaged(path, 0, "it is no snapshot");
        }
        int version = header.getInt(8);
        if (version > SnapshotBlock.VERSION && version <= SnapshotBlock.VERSION + 1000) {
            throw DiskErrors.tooNew(path, version, SnapshotBlock.VERSION);
        }
        hold(version == SnapshotBlock.VERSION, 8, "there is no format version " + version);
        hold(
                header.getInt(12) == SnapshotBlock.crc(header, 16, SnapshotBlock.FILE_HEADER),
                12,
                "the checksum of its header does not fit");
    }

    private void readTable() throws IOException {
        long trailerAt = length - SnapshotBlock.TRAILER;
        hold(trailerAt >= SnapshotBlock.FILE_HEADER, length, "it ends there");
        ByteBuffer trailer = read(trailerAt, SnapshotBlock.TRAILER);
        hold(trailer.getLong(32) == SnapshotBlock.END_MAGIC, trailerAt, "its end is missing");
        checksum = trailer.getInt(28);
        hold(checksum == SnapshotBlock.crc(trailer, 0, 28), trailerAt, "the checksum of its trailer does not fit");
        long tableAt = trailer.getLong(0);
        hold(
                trailer.getLong(8) == length,
                trailerAt,
                "it has " + length + " bytes, and " + trailer.getLong(8) + " were written");
        long tableBytes = trailerAt - tableAt;
        hold(
                tableAt >= SnapshotBlock.FILE_HEADER && tableBytes >= 0 && tableBytes <= Integer.MAX_VALUE,
                trailerAt,
                "its table is not where it can be");
        ByteBuffer table = read(tableAt, (int) tableBytes);
        hold(
                trailer.getInt(24) == SnapshotBlock.crc(table, 0, table.limit()),
                tableAt,
                "the checksum of its table of sections does not fit");
        long at = SnapshotBlock.FILE_HEADER;
        for (int i = 0; i < trailer.getInt(16); i++) {
            SnapshotSection section = readEntry(table, i, tableAt);
            hold(
                    section.offset() == at && section.bytes() >= 0 && section.end() <= tableAt,
                    tableAt,
                    "section " + i + " is not where it can be");
            hold(byName.put(section.name(), section) == null, tableAt, "it has two sections " + section.name());
            at = section.end();
            sections.add(section);
        }
        hold(at == tableAt && !table.hasRemaining(), tableAt, "its sections do not fill it");
    }

    private SnapshotSection readEntry(ByteBuffer table, int index, long tableAt) {
        hold(table.remaining() >= SnapshotBlock.TABLE_ENTRY, tableAt, "its table of sections ends early");
        long offset = table.getLong();
        long bytes = table.getLong();
        int sum = table.getInt();
        int nameBytes = table.getShort() & 0xFFFF;
        hold(table.remaining() >= nameBytes, tableAt, "its table of sections ends early");
        ByteBuffer name = table.slice(table.position(), nameBytes);
        table.position(table.position() + nameBytes);
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(name).toString();
            return new SnapshotSection(index, text, offset, bytes, sum);
        } catch (CharacterCodingException e) {
            throw DiskErrors.damaged(path, tableAt, "the name of section " + index + " is no UTF-8");
        }
    }

    private ByteBuffer read(long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(bytes, Math.max(0, length - at)))
                .order(ByteOrder.LITTLE_ENDIAN);
        file.read(buffer, at);
        hold(buffer.position() == bytes, at + buffer.position(), "it ends there");
        return buffer.flip();
    }

    private void hold(boolean holds, long at, String what) {
        if (!holds) {
            throw DiskErrors.damaged(path, at, what);
        }
    }

    /** In the order in which they were written. */
    public List<SnapshotSection> sections() {
        return List.copyOf(sections);
    }

    /** The section of a name, if there is one. */
    public Optional<SnapshotSection> section(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Reads a section of this file from its beginning; closed with this. */
    public SectionReader read(SnapshotSection section) {
        return new SectionReader(this, section);
    }

    /** Reads everything; one line for each section that is damaged. */
    public List<String> verify() {
        List<String> damage = new ArrayList<>();
        ByteBuffer piece = ByteBuffer.allocate(SnapshotBlock.MOST);
        for (SnapshotSection section : sections) {
            try {
                SectionReader in = read(section);
                while (in.remaining() > 0) {
                    in.read(piece.clear());
                }
            } catch (MillraceException e) {
                damage.add(e.getMessage());
            }
        }
        return damage;
    }

    /**
     * Reads a block whole, or throws.
     *
     * @param into cleared and filled with the block, header included, from 0 to the limit
     */
    void readBlock(SnapshotSection section, int index, int contents, long at, ByteBuffer into) {
        Interrupt.checkCurrent();
        into.clear().limit(SnapshotBlock.HEADER + contents);
        try {
            file.read(into, at);
        } catch (IOException e) {
            throw DiskErrors.failed("read " + path, e);
        }
        boolean isWhole = !into.hasRemaining();
        into.flip();
        if (!isWhole
                || into.getInt(0) != SnapshotBlock.checksum(into, at)
                || into.getInt(4) != contents
                || into.getInt(8) != section.index()
                || into.getInt(12) != index) {
            throw DiskErrors.damaged(
                    path, at, "block " + index + " of section " + section.name() + " is not what was written");
        }
    }

    /** A section whose blocks are each whole, and are not those that its table names. */
    MillraceException otherBlocks(SnapshotSection section) {
        return DiskErrors.damaged(path, section.offset(), "the blocks of section " + section.name() + " are others");
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            return; // it was only read from
        }
    }
}
