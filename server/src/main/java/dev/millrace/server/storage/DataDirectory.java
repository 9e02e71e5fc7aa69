package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.SpillSpace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.manifest.Manifest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Predicate;

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
    static final String JARS = "jars";
    public static final String ROWS = "rows";
    public static final String CHECKPOINTS = "checkpoints";
    public static final String CHANGES = "changes";
    public static final String STREAMS = "streams";
    public static final String SINKS = "sinks";
    private static final String JAR = ".jar";
    private static final String DECOYS = "decoys.key";

    /** Files that are written when a server starts, or by its owner. */
    private static final List<String> UNCHANGED =
            List.of(DECOYS, SecretsFile.NAME, "server.crt", "server.key", "millrace.conf");

    private static final List<String> LEFT =
            List.of(JARS, ROWS, CHANGES, STREAMS, DECOYS, SecretsFile.NAME, CatalogEnd.NAME);

    /** The file by which a backup is known. */
    public static final String BACKUP_LIST = "backup.list";

    /** Without this file nothing is a data directory. */
    public static final String DEFINITIONS = CatalogLog.NAME;

    /** Directories of which a backup has all files but those that are not finished, or spare. */
    private static final List<String> COPIED = List.of(JARS, ROWS, STREAMS, CHECKPOINTS, CHANGES, SINKS);

    static final int WITH_CHECKPOINTS = 3; // version of the catalog from which on there are some
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
            requireNoBackup(taken.disk());
            requireCatalog(taken.disk());
            boolean hadCheckpoints = CatalogLog.version(taken.disk()) >= WITH_CHECKPOINTS;
            Disk checkpoints = taken.disk().directory(CHECKPOINTS);
            if (hadCheckpoints && !Manifest.exists(checkpoints)) {
                throw DiskErrors.missing(checkpoints.path(""), "checkpoints of all that is defined are in it")
                        .withHint("put it back from a copy; ./millrace verify says what else is damaged");
            }
            Manifest.open(checkpoints); // before there are definitions of which it must be there
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

    private static void requireNoBackup(Disk disk) throws IOException {
        if (disk.has(BACKUP_LIST)) {
            throw MillraceException.user(
                            SqlState.CONFIG_FILE_ERROR, disk.path("") + " is a backup, which stays as it was written")
                    .withHint("./millrace restore " + disk.path("") + " DIR makes a data directory of it");
        }
    }

    /** Whether a file, by its name in the directory, is one that a database needs again. */
    public static boolean isKept(Path name) {
        String first = String.valueOf(name.getName(0));
        String last = String.valueOf(name.getFileName());
        boolean isFinished = !last.endsWith(".new") && !last.startsWith("spare-");
        return isFinished
                && (name.getNameCount() == 1
                        ? first.equals(CatalogLog.NAME) || first.equals(CatalogEnd.NAME) || UNCHANGED.contains(first)
                        : COPIED.contains(first));
    }

    /** Whether a database was there before, whose definitions are to be made again. Any thread. */
    public static boolean holdsDefinitions(Path path) {
        return Files.exists(path.resolve(CatalogLog.NAME));
    }

    /**
     * Writes the definitions of some objects of a directory into another that has none, without roles and settings; what else there is
     * beside them is as good there as it was here.
     *
     * @throws MillraceException XX001 if they are damaged, F0000 if they are of a later version; 53100 or 58030
     */
    public static void copyDefinitions(Path from, Path to, Predicate<KeptObject> which) {
        Disk source = RealDisk.readOnly(from);
        Disk target = new RealDisk(to);
        try {
            CatalogReader.Contents contents = CatalogLog.read(source);
            KeptCatalog catalog = new KeptCatalog();
            contents.records().forEach(catalog::apply);
            List<CatalogRecord> records = catalog.objects().stream()
                    .filter(which)
                    .map(object -> new CatalogRecord(
                            List.of(new CatalogChange.Define(object)), Optional.empty(), Optional.empty()))
                    .toList();
            long last = Math.max(contents.last(), records.size());
            CatalogLog.replace(target, last - records.size() + 1, records);
            CatalogEnd.write(target, last);
        } catch (IOException e) {
            throw DiskErrors.failed("copy definitions of " + from, e);
        }
    }

    /** How it is called. */
    public String path() {
        return disk.path("");
    }

    /**
     * Where the log of rows is, a directory inside it, made if there is none and nothing can be in it.
     *
     * @throws MillraceException XX001 if it is missing and tables have rows in it
     */
    public Disk rows() {
        try {
            boolean isNeeded = catalog().objects().stream()
                    .anyMatch(object -> object.number().isPresent());
            if (isNeeded && !(disk.has(ROWS) && WriteAheadLog.exists(disk.directory(ROWS)))) {
                throw DiskErrors.missing(disk.path(ROWS), "the log with the rows of tables is in it")
                        .withHint("put it back from a copy; ./millrace verify says what else is damaged");
            }
        } catch (IOException e) {
            throw DiskErrors.failed("use " + disk.path(ROWS), e);
        }
        Disk rows = within(ROWS);
        known(ROWS).ifPresent(log -> log.requireIn(rows));
        return rows;
    }

    /** What is known of the log in a directory. */
    public Optional<KnownLog> known(String name) {
        return catalog().logs().map(logs -> logs.get(name));
    }

    /**
     * These are all logs from now on.
     *
     * @throws MillraceException 53100 or 58030; then nothing was kept
     */
    public void keepLogs(Map<String, KnownLog> logs) {
        if (!Optional.of(logs).equals(catalog().logs())) {
            keep(new CatalogRecord(List.of(), Optional.empty(), Optional.empty(), Optional.of(logs)));
        }
    }

    /** Where the checkpoints are, likewise. */
    public Disk checkpoints() {
        return within(CHECKPOINTS);
    }

    private Disk within(String name) {
        try {
            return disk.directory(name);
        } catch (IOException e) {
            throw DiskErrors.failed("use " + disk.path(name), e);
        }
    }

    /** See {@link DataPlace.Taken#spill}. */
    public SpillSpace spill() {
        return taken.spill();
    }

    /** Where the changes of views are that have durable subscriptions. */
    public Disk changes() {
        return within(CHANGES);
    }

    /** Where the past of streams is, of each in a directory of its own. */
    public Disk streams() {
        return within(STREAMS);
    }

    /** Where a sink keeps what is its own; not made yet. */
    public Path sinkDirectory(long number) {
        return Path.of(within(SINKS).path(Long.toString(number)));
    }

    /** The directories of sinks that keep something of their own, or did, by their numbers. */
    public Map<Long, Path> sinkDirectories() {
        Map<Long, Path> found = new TreeMap<>();
        try {
            if (disk.has(SINKS)) {
                Disk sinks = disk.directory(SINKS);
                for (String name : sinks.directories()) {
                    if (name.matches("[0-9]{1,18}")) {
                        found.put(Long.parseLong(name), Path.of(sinks.path(name)));
                    }
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(SINKS), e);
        }
        return found;
    }

    /** What there is; grows with what is kept. */
    public KeptCatalog catalog() {
        return log.catalog();
    }

    /** What was noticed when it was opened, as that a record was not whole whose statement was never answered. */
    public List<String> notices() {
        return log.notices();
    }

    /** The number of the last record of the catalog. */
    public long lastRecord() {
        return log.last();
    }

    /**
     * Keeps what a statement changed; when this returns, it is on disk.
     *
     * @throws MillraceException 53100 or 58030; then nothing was kept
     */
    public void keep(CatalogRecord record) {
        log.append(record);
    }

    /** The mark of the last record, if it has one and is neither {@linkplain #confirm confirmed} nor {@linkplain #takeBack taken back}. */
    public OptionalLong doubtful() {
        return log.doubtful();
    }

    /** The last record counts: the entry of rows is on disk that has its mark. */
    public void confirm() {
        log.confirm();
    }

    /** The last record does not count: there is no entry of rows that has its mark, and there will be none. */
    public void takeBack() {
        log.takeBack();
    }

    /**
     * Returns when nothing of a record is on disk that could not be kept; until then a crash may bring it back.
     *
     * @throws MillraceException 53100 or 58030
     */
    public void settle() {
        log.settle();
    }

    /**
     * What CREATE SECRET has kept.
     *
     * @throws MillraceException XX001 if it is damaged, missing or not this database's; 58030
     */
    public SecretsFile.Contents secrets() {
        try {
            Optional<KnownLog> known = known(SecretsFile.NAME);
            if (disk.has(SecretsFile.GIVEN_UP)) {
                return new SecretsFile.Contents(Optional.empty(), Map.of());
            }
            Optional<SecretsFile.Contents> found = SecretsFile.read(disk);
            SecretsFile.misfit(disk, found, known).ifPresent(what -> {
                throw MillraceException.external(SqlState.DATA_CORRUPTED, what).withHint(SecretsFile.cure(disk));
            });
            return found.orElseGet(() -> new SecretsFile.Contents(Optional.empty(), Map.of()));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(SecretsFile.NAME), e);
        }
    }

    /**
     * These are all secrets from now on, when this returns.
     *
     * @param file that is written
     * @throws MillraceException 53100 or 58030; then either all or none of it is kept
     */
    public void keepSecrets(KnownLog file, Map<String, String> secrets) {
        try {
            SecretsFile.write(disk, file, secrets);
            if (disk.has(SecretsFile.GIVEN_UP)) {
                disk.delete(SecretsFile.GIVEN_UP);
            }
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(SecretsFile.NAME), e);
        }
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

    /**
     * Where the jar of this hash is kept.
     *
     * @throws MillraceException XX001 if it is missing, or is another by now
     */
    public Path jar(String hash) {
        try {
            if (!disk.has(JARS) || !disk.directory(JARS).has(jarName(hash))) {
                throw DiskErrors.missing(disk.path(JARS + "/" + jarName(hash)), "code of a function is in it")
                        .withHint("put it back from a copy");
            }
            Path jar = Path.of(disk.directory(JARS).path(jarName(hash)));
            if (!isWhole(jar, hash)) {
                throw DiskErrors.damaged(jar.toString(), 0, "its SHA-256 is not its name")
                        .withHint("put it back from a copy");
            }
            return jar;
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(JARS), e);
        }
    }

    private static String jarName(String hash) {
        return hash + JAR;
    }

    private static boolean isWhole(Path jar, String hash) throws IOException {
        return CatalogVerification.sha256(Files.readAllBytes(jar)).equals(hash);
    }

    /** Keeps a copy of a jar under its hash; when this returns, it is on disk. */
    public void keepJar(String hash, Path from) {
        try {
            Disk jars = disk.directory(JARS);
            if (!jars.has(jarName(hash)) || !isWhole(Path.of(jars.path(jarName(hash))), hash)) {
                WholeFile.write(jars, jarName(hash), ByteBuffer.wrap(Files.readAllBytes(from)));
            }
        } catch (IOException e) {
            throw DiskErrors.failed("keep " + from + " in " + disk.path(""), e);
        }
    }

    /**
     * What is here beside rows, checkpoints and changes, as files that make it in another directory: definitions as they are now, and what
     * does not change while a database is open.
     *
     * @throws MillraceException 58030 where it cannot be read
     */
    public List<FileImage> image() {
        List<FileImage> files = new ArrayList<>(log.image());
        try {
            for (String name : UNCHANGED) {
                if (disk.has(name)) {
                    files.add(FileImage.of(disk, name));
                }
            }
            if (disk.has(JARS)) {
                Disk jars = disk.directory(JARS);
                for (String jar : jars.list()) {
                    if (jar.endsWith(JAR)) {
                        files.add(FileImage.of(jars, jar).in(JARS));
                    }
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(""), e);
        }
        return files;
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
