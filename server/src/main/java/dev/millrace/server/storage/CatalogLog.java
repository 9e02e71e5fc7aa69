package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.server.log.EventLog;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The file {@code catalog.log}, whose form the package describes, and the one beside it. For one thread at a time. */
final class CatalogLog implements AutoCloseable {
    static final String NAME = "catalog.log";
    private static final EventLog LOG = EventLog.named("storage");
    private static final int FEW_RECORDS = 64;
    private static final int NO_RECORD_BYTES = 16; // of zeros, where a record has its checksum
    private static final int MOST_BYTES = 1 << 30;

    private final Disk disk;
    private final DiskFile file;
    private final CatalogEnd answered;
    private final List<String> notices;
    private KeptCatalog catalog;
    private long last;
    private long end;
    private boolean hasRemains; // of a record that failed: part of it may be on disk behind the end
    private Optional<Doubtful> doubtful = Optional.empty();

    /**
     * The last record, if it counts only with an entry of rows, and nobody has said yet that this is there.
     *
     * @param before what there is without it
     * @param start where it begins, in bytes
     */
    private record Doubtful(KeptCatalog before, long start, long mark) {}

    private CatalogLog(Disk disk, DiskFile file, KeptCatalog catalog, List<String> notices, long last, long end) {
        this.disk = disk;
        this.file = file;
        this.answered = new CatalogEnd(disk);
        this.catalog = catalog;
        this.notices = List.copyOf(notices);
        this.last = last;
        this.end = end;
    }

    /**
     * Opens the log of a directory, or begins one.
     *
     * @throws MillraceException XX001 if it is damaged, or not whole; F0000 if it is of a later version; 53100 or 58030
     */
    static CatalogLog open(Disk disk) {
        try {
            boolean isNew = !disk.has(NAME);
            if (isNew) {
                replace(disk, 1, List.of());
            }
            disk.forceNames(); // should who began it have ended, or failed, before it had done so
            OptionalLong answered = CatalogEnd.read(disk);
            byte[] bytes = bytes(disk);
            CatalogReader.Contents contents = CatalogReader.read(disk.path(NAME), bytes, answered);
            Optional<Doubtful> doubtful = doubtful(contents, bytes);
            KeptCatalog catalog = KeptCatalog.of(contents.records());
            List<CatalogRecord> fewest = catalog.records();
            long last = contents.last();
            long end = contents.end();
            boolean isReplaced = contents.isOld()
                    || doubtful.isEmpty() && contents.records().size() > FEW_RECORDS + 2 * fewest.size();
            if (isReplaced) {
                last = Math.max(last, fewest.size()); // as a rule the number stays, and what is beside the log is true
                end = replace(disk, last - fewest.size() + 1, fewest);
            }
            DiskFile file = disk.open(NAME);
            try {
                file.truncate(end);
                if (!isReplaced) {
                    // its last record may be in the cache alone, which took it for written when forcing failed
                    file.write(ByteBuffer.wrap(bytes, 0, (int) end), 0);
                }
                file.force();
                CatalogEnd.write(disk, doubtful.isPresent() ? last - 1 : last);
            } catch (IOException | RuntimeException | Error e) {
                file.close();
                throw e;
            }
            boolean endIsKnown = isNew || contents.isOld() || answered.isPresent();
            CatalogLog log = new CatalogLog(disk, file, catalog, notices(contents, endIsKnown), last, end);
            log.doubtful = doubtful;
            return log;
        } catch (IOException e) {
            throw DiskErrors.failed("open " + disk.path(NAME), e);
        }
    }

    private static Optional<Doubtful> doubtful(CatalogReader.Contents contents, byte[] bytes) {
        List<CatalogRecord> records = contents.records();
        if (records.isEmpty() || records.get(records.size() - 1).mark().isEmpty()) {
            return Optional.empty();
        }
        int start = contents.end() - 1;
        while (bytes[start - 1] != '\n') {
            start--;
        }
        return Optional.of(new Doubtful(
                KeptCatalog.of(records.subList(0, records.size() - 1)),
                start,
                records.get(records.size() - 1).mark().getAsLong()));
    }

    /** The log as it is now, as files that make it in another directory; what is added is not in it. */
    List<FileImage> image() {
        return List.of(
                FileImage.of(disk, NAME, end, end),
                FileImage.of(CatalogEnd.NAME, ByteBuffer.wrap(NumberedLine.write(last, ""))));
    }

    /** The version of the format of a directory's; 0 where there is none, or its title is damaged. */
    static int version(Disk disk) throws IOException {
        return disk.has(NAME) ? CatalogReader.version(bytes(disk)) : 0;
    }

    /** What a directory has, which stays as it is. */
    static CatalogReader.Contents read(Disk disk) throws IOException {
        OptionalLong answered = CatalogEnd.read(disk);
        return CatalogReader.read(disk.path(NAME), bytes(disk), answered);
    }

    private static byte[] bytes(Disk disk) throws IOException {
        ByteBuffer bytes = WholeFile.read(disk, NAME, MOST_BYTES);
        return Arrays.copyOf(bytes.array(), bytes.limit());
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

    /** The number of the last record. */
    long last() {
        return last;
    }

    /** What was noticed when it was opened, and was no reason to refuse it. */
    List<String> notices() {
        return notices;
    }

    /** The mark of the last record, if that counts only with an entry of rows that has it, until {@link #confirm} or {@link #takeBack}. */
    OptionalLong doubtful() {
        return doubtful.map(record -> OptionalLong.of(record.mark())).orElse(OptionalLong.empty());
    }

    /** The last record counts. */
    void confirm() {
        doubtful = Optional.empty();
        tellEnd();
    }

    /** The last record does not count: there is what there was before it. What is on disk of it goes before the next one comes. */
    void takeBack() {
        Doubtful record = doubtful.orElseThrow();
        doubtful = Optional.empty();
        catalog = record.before();
        end = record.start();
        last--;
        hasRemains = true;
        try {
            removeRemains();
        } catch (IOException e) {
            LOG.warning("cannot shorten " + NAME, "reason", String.valueOf(e.getMessage()));
        }
    }

    /**
     * Adds a record; when this returns, it is on disk. One with a mark is doubtful until it is confirmed.
     *
     * @throws MillraceException 53100 or 58030; then nothing was added
     */
    void append(CatalogRecord record) {
        assert doubtful.isEmpty() : "whether the last record counts is not known";
        byte[] line = NumberedLine.write(last + 1, RecordJson.write(record));
        try {
            removeRemains();
            hasRemains = true;
            file.write(ByteBuffer.wrap(line), end);
            file.force();
            hasRemains = false;
        } catch (IOException e) {
            takeBack(e);
            throw DiskErrors.failed("write " + disk.path(NAME), e);
        }
        if (record.mark().isPresent()) {
            doubtful = Optional.of(new Doubtful(
                    KeptCatalog.of(catalog.records()), end, record.mark().getAsLong()));
        }
        end += line.length;
        last++;
        catalog.apply(record);
        if (doubtful.isEmpty()) {
            tellEnd();
        }
    }

    /** The record is on disk whatever becomes of this; but the end of the log is no longer guarded. */
    private void tellEnd() {
        try {
            answered.write(last);
        } catch (IOException e) {
            LOG.warning("cannot write " + CatalogEnd.NAME, "reason", String.valueOf(e.getMessage()));
        }
    }

    private void takeBack(IOException failure) {
        try {
            removeRemains();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private void removeRemains() throws IOException {
        if (hasRemains) {
            file.truncate(end);
            file.write(
                    ByteBuffer.allocate(NO_RECORD_BYTES),
                    end); // that a file is shorter may be lost where forcing failed
            file.force();
            file.truncate(end);
            hasRemains = false;
        }
    }

    /**
     * Returns when nothing of a record that failed is on disk: else it could be found, after the machine stopped, in the place of one
     * that a checkpoint counts on.
     *
     * @throws MillraceException 53100 or 58030
     */
    void settle() {
        try {
            removeRemains();
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(NAME), e);
        }
    }

    /**
     * Writes a log of its own beside the one that is there, and puts it in its place.
     *
     * @param first the number of its first record
     * @return its length in bytes
     */
    static long replace(Disk disk, long first, List<CatalogRecord> records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(CatalogReader.title(first));
        long number = first;
        for (CatalogRecord record : records) {
            bytes.writeBytes(NumberedLine.write(number++, RecordJson.write(record)));
        }
        WholeFile.write(disk, NAME, ByteBuffer.wrap(bytes.toByteArray()));
        return bytes.size();
    }

    @Override
    public void close() throws IOException {
        try (file) {
            answered.close();
        }
    }
}
