package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.log.EventLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/** The file {@code catalog.log}, whose form the package describes, and the one beside it. For one thread at a time. */
final class CatalogLog implements AutoCloseable {
    static final String NAME = "catalog.log";
    private static final EventLog LOG = EventLog.named("storage");
    private static final int FEW_RECORDS = 64;

    private final Path file;
    private final FileChannel channel;
    private final KeptCatalog catalog;
    private final List<String> notices;
    private long last;
    private long end;

    private CatalogLog(Path file, FileChannel channel, KeptCatalog catalog, List<String> notices, long last, long end) {
        this.file = file;
        this.channel = channel;
        this.catalog = catalog;
        this.notices = List.copyOf(notices);
        this.last = last;
        this.end = end;
    }

    /**
     * Opens the log of a directory, or begins one.
     *
     * @throws MillraceException XX001 if it is damaged, or not whole; F0000 if it is of a later version; 58030
     */
    static CatalogLog open(Path directory) {
        Path file = directory.resolve(NAME);
        try {
            boolean isNew = !Files.exists(file);
            if (isNew) {
                replace(file, 1, List.of());
            }
            OptionalLong answered = CatalogEnd.read(directory);
            CatalogReader.Contents contents = CatalogReader.read(file, Files.readAllBytes(file), answered);
            KeptCatalog catalog = new KeptCatalog();
            contents.records().forEach(catalog::apply);
            List<CatalogRecord> fewest = catalog.records();
            long last = contents.last();
            long end = contents.end();
            if (contents.isOld() || contents.records().size() > FEW_RECORDS + 2 * fewest.size()) {
                last = Math.max(last, fewest.size()); // as a rule the number stays, and what is beside the log is true
                end = replace(file, last - fewest.size() + 1, fewest);
            }
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            channel.truncate(end);
            channel.force(true);
            CatalogEnd.write(directory, last);
            boolean endIsKnown = isNew || contents.isOld() || answered.isPresent();
            return new CatalogLog(file, channel, catalog, notices(contents, endIsKnown), last, end);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot open " + file + ": " + e.getMessage(), e);
        }
    }

    private static List<String> notices(CatalogReader.Contents contents, boolean endIsKnown) {
        List<String> notices = new ArrayList<>();
        if (contents.tornBytes() > 0) {
            notices.add(
                    "record " + (contents.last() + 1) + " of " + NAME + " was being written when the database ended;"
                            + " the " + contents.tornBytes() + " bytes that were there of it are cut off");
        }
        if (!endIsKnown) {
            notices.add(CatalogEnd.NAME + " is missing or damaged: whether records are missing behind record "
                    + contents.last() + " of " + NAME + " is not known");
        }
        return notices;
    }

    /** What there is. Changes with each record. */
    KeptCatalog catalog() {
        return catalog;
    }

    /** What was noticed when it was opened, and was no reason to refuse it. */
    List<String> notices() {
        return notices;
    }

    /**
     * Adds a record; when this returns, it is on disk.
     *
     * @throws MillraceException 53100 or 58030; then nothing was added
     */
    void append(CatalogRecord record) {
        byte[] line = NumberedLine.write(last + 1, RecordJson.write(record));
        try {
            channel.truncate(end); // should a record before it have failed, and taking it back as well
            channel.position(end);
            write(channel, line);
            channel.force(true);
        } catch (IOException e) {
            takeBack(e);
            boolean full = String.valueOf(e.getMessage()).contains("No space left");
            throw MillraceException.external(
                    full ? SqlState.DISK_FULL : SqlState.IO_ERROR, "cannot write " + file + ": " + e.getMessage(), e);
        }
        end += line.length;
        last++;
        catalog.apply(record);
        tellEnd();
    }

    /** The record is on disk whatever becomes of this; but the end of the log is no longer guarded. */
    private void tellEnd() {
        try {
            CatalogEnd.write(directory(file), last);
        } catch (IOException e) {
            LOG.warning("cannot write " + CatalogEnd.NAME, "reason", String.valueOf(e.getMessage()));
        }
    }

    private void takeBack(IOException failure) {
        try {
            channel.truncate(end);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Writes a log of its own beside the one that is there, and puts it in its place.
     *
     * @param first the number of its first record
     * @return its length in bytes
     */
    private static long replace(Path file, long first, List<CatalogRecord> records) throws IOException {
        Path beside = file.resolveSibling(NAME + ".new");
        Files.deleteIfExists(beside);
        long length;
        try (FileChannel out = DataDirectory.createPrivate(beside)) {
            write(out, CatalogReader.title(first));
            long number = first;
            for (CatalogRecord record : records) {
                write(out, NumberedLine.write(number++, RecordJson.write(record)));
            }
            out.force(true);
            length = out.position();
        }
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        DataDirectory.force(directory(file));
        return length;
    }

    /** Where a file is; of a name alone, too. */
    private static Path directory(Path file) {
        return Objects.requireNonNull(file.toAbsolutePath().getParent());
    }

    private static void write(FileChannel out, byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) {
            out.write(rest);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
