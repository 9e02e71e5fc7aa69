package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A directory that one database at a time keeps its definitions in. For one thread at a time.
 *
 * <pre>
 *   try (DataDirectory directory = DataDirectory.open(DataPlace.of(path))) {
 *       directory.catalog().objects().forEach(...);      // what is there from before
 *       directory.keep(record);                          // on disk when it returns
 *   }
 * </pre>
 */
public final class DataDirectory implements AutoCloseable {
    private static final String JARS = "jars";
    private static final String ROWS = "rows";
    private static final String DECOYS = "decoys.key";
    private static final List<String> LEFT = List.of(JARS, ROWS, DECOYS, CatalogEnd.NAME);
    private static final int MOST_SECRET_BYTES = 1 << 10;

    private final DataPlace.Taken taken;
    private final Disk disk;
    private final CatalogLog log;

    private DataDirectory(DataPlace.Taken taken, CatalogLog log) {
        this.taken = taken;
        this.disk = taken.disk();
        this.log = log;
    }

    /**
     * Opens a directory, or makes one, and locks it.
     *
     * @throws MillraceException F0001 if another database has it; XX001 if it is damaged; 53100 or 58030 if it cannot be used
     */
    public static DataDirectory open(DataPlace place) {
        DataPlace.Taken taken = place.take();
        try {
            requireCatalog(taken.disk());
            return new DataDirectory(taken, CatalogLog.open(taken.disk()));
        } catch (IOException e) {
            taken.close();
            throw DiskErrors.failed("use the data directory " + taken.disk().path(""), e);
        } catch (RuntimeException | Error e) {
            taken.close();
            throw e;
        }
    }

    /**
     * What a database left is not taken for a new directory when its definitions are missing. The lock is there before them: a
     * directory that has no more was being made when the process ended.
     */
    private static void requireCatalog(Disk disk) throws IOException {
        if (disk.has(CatalogLog.NAME)) {
            return;
        }
        for (String left : LEFT) {
            if (disk.has(left)) {
                throw MillraceException.external(
                                SqlState.DATA_CORRUPTED,
                                "the data directory " + disk.path("") + " has no " + CatalogLog.NAME + ", but " + left
                                        + " of a database that used it")
                        .withHint("put " + CatalogLog.NAME + " back from a copy; or, to begin without definitions, use"
                                + " an empty directory");
            }
        }
    }

    /** Whether a database was there before, whose definitions are to be made again. Any thread. */
    public static boolean holdsDefinitions(Path path) {
        return Files.exists(path.resolve(CatalogLog.NAME));
    }

    /** How it is called. */
    public String path() {
        return disk.path("");
    }

    /** Where the rows are, a directory inside it. */
    public Disk rows() {
        try {
            return disk.directory(ROWS);
        } catch (IOException e) {
            throw DiskErrors.failed("use " + disk.path(ROWS), e);
        }
    }

    /** What there is; grows with what is kept. */
    public KeptCatalog catalog() {
        return log.catalog();
    }

    /** What was noticed when it was opened, as that a record was not whole whose statement was never answered. */
    public List<String> notices() {
        return log.notices();
    }

    /**
     * Keeps what a statement changed; when this returns, it is on disk.
     *
     * @throws MillraceException 53100 or 58030; then nothing was kept
     */
    public void keep(CatalogRecord record) {
        log.append(record);
    }

    /** Random bytes that stay the same as long as the directory does; nobody but its owner can read them. */
    public byte[] decoysKey(int bytes) {
        try {
            if (!disk.has(DECOYS)) {
                byte[] fresh = new byte[bytes];
                new SecureRandom().nextBytes(fresh);
                WholeFile.write(disk, DECOYS, ByteBuffer.wrap(fresh));
            }
            ByteBuffer kept = WholeFile.read(disk, DECOYS, MOST_SECRET_BYTES);
            if (kept.remaining() != bytes) {
                throw MillraceException.external(
                        SqlState.DATA_CORRUPTED,
                        disk.path(DECOYS) + " has " + kept.remaining() + " bytes, not " + bytes);
            }
            return Arrays.copyOf(kept.array(), bytes);
        } catch (IOException e) {
            throw DiskErrors.failed("use " + disk.path(DECOYS), e);
        }
    }

    /** Where the jar of this hash is kept, if it is. */
    public Optional<Path> jar(String hash) {
        String name = hash + ".jar";
        try {
            if (!disk.has(JARS)) {
                return Optional.empty();
            }
            Disk jars = disk.directory(JARS);
            return jars.has(name) ? Optional.of(Path.of(jars.path(name))) : Optional.empty();
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(JARS), e);
        }
    }

    /** Keeps a copy of a jar under its hash; when this returns, it is on disk. */
    public void keepJar(String hash, Path from) {
        if (jar(hash).isPresent()) {
            return;
        }
        try {
            WholeFile.write(disk.directory(JARS), hash + ".jar", ByteBuffer.wrap(Files.readAllBytes(from)));
        } catch (IOException e) {
            throw DiskErrors.failed("keep " + from + " in " + disk.path(""), e);
        }
    }

    /** Lets another database have it. */
    @Override
    public void close() {
        try (taken) {
            log.close();
        } catch (IOException e) {
            throw DiskErrors.failed("close " + disk.path(""), e);
        }
    }
}
