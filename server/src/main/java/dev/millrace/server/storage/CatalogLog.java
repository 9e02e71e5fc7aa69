package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32C;

/** The file {@code catalog.log}, whose form the package describes. For one thread at a time. */
final class CatalogLog implements AutoCloseable {
    static final String NAME = "catalog.log";
    private static final String TITLE = "millrace-catalog ";
    private static final int VERSION = 1;
    private static final int CHECKSUM_DIGITS = 8;
    private static final int FEW_RECORDS = 64;

    private final Path file;
    private final FileChannel channel;
    private final KeptCatalog catalog;
    private final boolean cut;

    private CatalogLog(Path file, FileChannel channel, KeptCatalog catalog, boolean cut) {
        this.file = file;
        this.channel = channel;
        this.catalog = catalog;
        this.cut = cut;
    }

    /**
     * Opens the log of a directory, or begins one.
     *
     * @throws MillraceException XX001 if it is damaged; F0000 if it is of a later version; 58030
     */
    static CatalogLog open(Path directory) {
        Path file = directory.resolve(NAME);
        try {
            if (!Files.exists(file)) {
                replace(file, List.of());
            }
            byte[] bytes = Files.readAllBytes(file);
            int whole = wholeLines(bytes);
            List<CatalogRecord> records = read(file, bytes, whole);
            KeptCatalog catalog = new KeptCatalog();
            records.forEach(catalog::apply);
            List<CatalogRecord> fewest = catalog.records();
            int end = whole;
            if (records.size() > FEW_RECORDS + 2 * fewest.size()) {
                replace(file, fewest);
                end = (int) Files.size(file);
            }
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            channel.truncate(end);
            channel.position(end);
            channel.force(true);
            return new CatalogLog(file, channel, catalog, whole < bytes.length);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot open " + file + ": " + e.getMessage(), e);
        }
    }

    private static int wholeLines(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        return end;
    }

    private static List<CatalogRecord> read(Path file, byte[] bytes, int end) {
        List<CatalogRecord> records = new ArrayList<>();
        int number = 0;
        for (int start = 0; start < end; ) {
            int stop = start;
            while (bytes[stop] != '\n') {
                stop++;
            }
            number++;
            String line = new String(bytes, start, stop - start, StandardCharsets.UTF_8);
            if (number == 1) {
                requireVersion(file, line);
            } else {
                records.add(record(file, number, start, line));
            }
            start = stop + 1;
        }
        if (number == 0) {
            requireVersion(file, "");
        }
        return records;
    }

    private static void requireVersion(Path file, String line) {
        int version = 0;
        if (line.startsWith(TITLE)) {
            try {
                version = Integer.parseInt(line.substring(TITLE.length()));
            } catch (NumberFormatException e) {
                version = 0;
            }
        }
        if (version < 1) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED,
                    file + " is not a catalog of Millrace, or its first line is damaged",
                    null);
        }
        if (version > VERSION) {
            throw MillraceException.user(
                            SqlState.CONFIG_FILE_ERROR,
                            file + " is of version " + version + "; this Millrace reads up to " + VERSION)
                    .withHint("a later Millrace wrote it; use that");
        }
    }

    private static CatalogRecord record(Path file, int number, int start, String line) {
        try {
            String json = line.substring(Math.min(line.length(), CHECKSUM_DIGITS + 1));
            if (line.startsWith(checksum(json) + " ")) {
                return RecordJson.read(json);
            }
        } catch (JsonProcessingException e) {
            // damaged before its checksum was made; said below
        }
        throw MillraceException.external(
                        SqlState.DATA_CORRUPTED,
                        file + " is damaged: line " + number + ", which begins at byte " + start
                                + ", is not what was written",
                        null)
                .withHint(
                        "restore the file from a backup; or cut it off before that byte, which forgets all that came later");
    }

    private static String checksum(String json) {
        CRC32C crc = new CRC32C();
        crc.update(json.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }

    private static byte[] line(CatalogRecord record) {
        String json = RecordJson.write(record);
        return (checksum(json) + " " + json + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** What there is. Changes with each record. */
    KeptCatalog catalog() {
        return catalog;
    }

    /** Whether a record that was not whole was cut off. */
    boolean wasCut() {
        return cut;
    }

    /**
     * Adds a record; when this returns, it is on disk.
     *
     * @throws MillraceException 53100 or 58030; then nothing was added
     */
    void append(CatalogRecord record) {
        long end = -1;
        try {
            end = channel.position();
            ByteBuffer line = ByteBuffer.wrap(line(record));
            while (line.hasRemaining()) {
                channel.write(line);
            }
            channel.force(true);
            catalog.apply(record);
        } catch (IOException e) {
            takeBack(end, e);
            boolean full = String.valueOf(e.getMessage()).contains("No space left");
            throw MillraceException.external(
                    full ? SqlState.DISK_FULL : SqlState.IO_ERROR, "cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    private void takeBack(long end, IOException failure) {
        try {
            if (end >= 0) {
                channel.truncate(end);
                channel.position(end);
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Writes a log of its own beside the one that is there, and puts it in its place. */
    private static void replace(Path file, List<CatalogRecord> records) throws IOException {
        Path beside = file.resolveSibling(NAME + ".new");
        Files.deleteIfExists(beside);
        try (FileChannel out = DataDirectory.createPrivate(beside)) {
            write(out, (TITLE + VERSION + "\n").getBytes(StandardCharsets.US_ASCII));
            for (CatalogRecord record : records) {
                write(out, line(record));
            }
            out.force(true);
        }
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        DataDirectory.force(file.getParent());
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
