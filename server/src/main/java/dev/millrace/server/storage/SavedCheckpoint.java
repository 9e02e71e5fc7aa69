package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.manifest.Checkpoint;
import dev.millrace.storage.snapshot.SectionReader;
import dev.millrace.storage.snapshot.SnapshotFile;
import dev.millrace.storage.snapshot.SnapshotReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The newest checkpoint of a data directory, to go on from: the engine's sections, and what is beside them. Safe on any thread until it
 * is closed, by who opened it, when nobody reads; one section's stream is for one thread.
 */
public final class SavedCheckpoint implements CheckpointReader, AutoCloseable {
    private static final int MOST_CATALOG_BYTES = Integer.MAX_VALUE - 1024;

    private final Checkpoint checkpoint;
    private final Map<String, SnapshotReader> files =
            new LinkedHashMap<>(); // by name; the first is this checkpoint's own
    private final CheckpointCatalog catalog;
    private volatile UnaryOperator<String> namesThen = UnaryOperator.identity(); // written by who opens the database

    private SavedCheckpoint(Disk disk, Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
        try {
            for (SnapshotFile file : checkpoint.files()) {
                files.put(file.name(), SnapshotReader.open(disk, file));
            }
            this.catalog = readCatalog();
            catalog.kept().keySet().forEach(this::find);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** @throws MillraceException XX001 if its files are damaged; what is found of a section later is told by who reads it */
    static SavedCheckpoint open(Disk disk, Checkpoint checkpoint) {
        return new SavedCheckpoint(disk, checkpoint);
    }

    /** Says which names things had when this was written, by those that they have now. Before it is read. */
    public void nameThen(UnaryOperator<String> names) {
        namesThen = names;
    }

    @Override
    public String nameThen(String name) {
        return namesThen.apply(name);
    }

    /** The number of the last record of the log of rows that is in it. */
    public long logNumber() {
        return checkpoint.logNumber();
    }

    /** The definitions that it is of. */
    public CheckpointCatalog catalog() {
        return catalog;
    }

    private CheckpointCatalog readCatalog() {
        SectionReader section = ofOwnFile(CheckpointCatalog.SECTION)
                .orElseThrow(() -> damaged("has no section \"" + CheckpointCatalog.SECTION + "\""));
        if (section.remaining() > MOST_CATALOG_BYTES) {
            throw damaged("has definitions of " + section.remaining() + " bytes");
        }
        byte[] text = new byte[(int) section.remaining()];
        section.read(ByteBuffer.wrap(text));
        try {
            return CheckpointCatalog.read(new String(text, StandardCharsets.UTF_8));
        } catch (JsonProcessingException | NumberFormatException e) {
            throw damaged("has definitions that cannot be read: " + e.getMessage());
        }
    }

    private MillraceException damaged(String how) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "checkpoint " + checkpoint.number() + " of the data directory " + how);
    }

    private Optional<SectionReader> ofOwnFile(String section) {
        return files.values().stream()
                .findFirst()
                .flatMap(file -> file.section(section).map(file::read));
    }

    private Optional<SectionReader> find(String section) {
        String kept = catalog.kept().get(section);
        if (kept == null) {
            return ofOwnFile(section);
        }
        return Optional.of(Optional.ofNullable(files.get(kept))
                .flatMap(file -> file.section(section).map(file::read))
                .orElseThrow(() -> damaged("has section \"" + section + "\" in " + kept + ", which has none")));
    }

    @Override
    public Optional<InputStream> open(String section) throws IOException {
        return find(section).map(SectionBytes::new);
    }

    /** A section as a stream; what is damaged is told as it is elsewhere. */
    private static final class SectionBytes extends InputStream {
        private final SectionReader section;

        SectionBytes(SectionReader section) {
            this.section = section;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            int count = section.read(ByteBuffer.wrap(into, offset, length));
            return count == 0 && length > 0 ? -1 : count;
        }

        @Override
        public int available() {
            return (int) Math.min(Integer.MAX_VALUE, section.remaining());
        }
    }

    @Override
    public void close() {
        files.values().forEach(SnapshotReader::close);
    }
}
