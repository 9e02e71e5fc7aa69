package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory that one database at a time keeps its definitions in. For one thread at a time.
 *
 * <pre>
 *   try (DataDirectory directory = DataDirectory.open(path)) {
 *       directory.catalog().objects().forEach(...);      // what is there from before
 *       directory.keep(record);                          // on disk when it returns
 *   }
 * </pre>
 */
public final class DataDirectory implements AutoCloseable {
    private static final String LOCK = "lock";
    private static final String JARS = "jars";
    private static final List<String> LEFT = List.of(JARS, "decoys.key", CatalogEnd.NAME, LOCK);

    private final Path path;
    private final FileChannel lockFile;
    private final FileLock lock;
    private final CatalogLog log;

    private DataDirectory(Path path, FileChannel lockFile, FileLock lock, CatalogLog log) {
        this.path = path;
        this.lockFile = lockFile;
        this.lock = lock;
        this.log = log;
    }

    /**
     * Opens a directory, or makes one, and locks it.
     *
     * @throws MillraceException F0001 if another database has it; XX001 if it is damaged; 58030 if it cannot be used
     */
    public static DataDirectory open(Path path) {
        @Nullable FileChannel lockFile = null;
        try {
            create(path);
            requireCatalog(path);
            lockFile = FileChannel.open(
                    path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            FileLock lock = lock(path, lockFile);
            return new DataDirectory(path, lockFile, lock, CatalogLog.open(path));
        } catch (IOException e) {
            close(lockFile);
            throw MillraceException.external(SqlState.IO_ERROR, "cannot use the data directory " + path + ": " + e, e);
        } catch (MillraceException e) {
            close(lockFile);
            throw e;
        }
    }

    /** What a database left is not taken for a new directory when its definitions are missing. */
    private static void requireCatalog(Path path) {
        Optional<String> left =
                LEFT.stream().filter(name -> Files.exists(path.resolve(name))).findFirst();
        if (left.isPresent() && !Files.exists(path.resolve(CatalogLog.NAME))) {
            throw MillraceException.external(
                            SqlState.DATA_CORRUPTED,
                            "the data directory " + path + " has no " + CatalogLog.NAME + ", but " + left.get()
                                    + " of a database that used it")
                    .withHint("put " + CatalogLog.NAME + " back from a copy; or, to begin without definitions, use an"
                            + " empty directory");
        }
    }

    /** Whether a database was there before, whose definitions are to be made again. Any thread. */
    public static boolean holdsDefinitions(Path path) {
        return Files.exists(path.resolve(CatalogLog.NAME));
    }

    /** For its owner only, like PostgreSQL's: there are verifiers of passwords in it. */
    private static void create(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return;
        }
        if (Files.exists(path)) {
            throw MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR, "the data directory " + path + " is a file, not a directory");
        }
        Path parent = Objects.requireNonNull(path.toAbsolutePath().getParent()); // the root is there
        Files.createDirectories(parent);
        Files.createDirectory(path, attributes(path, "rwx------"));
        force(parent);
    }

    private static FileAttribute<?>[] attributes(Path path, String permissions) {
        boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }

    private static FileLock lock(Path path, FileChannel lockFile) throws IOException {
        @Nullable FileLock lock;
        try {
            lock = lockFile.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null; // another database of this process
        }
        if (lock == null) {
            ByteBuffer number = ByteBuffer.allocate(32);
            lockFile.read(number, 0);
            String process = new String(number.array(), 0, number.position(), StandardCharsets.US_ASCII).strip();
            throw MillraceException.user(
                    SqlState.LOCK_FILE_EXISTS,
                    "the data directory " + path + " is in use" + (process.isEmpty() ? "" : " by process " + process));
        }
        lockFile.truncate(0);
        lockFile.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
        return lock;
    }

    /** A new file that only its owner reads. */
    static FileChannel createPrivate(Path file) throws IOException {
        return FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attributes(file, "rw-------"));
    }

    /** Makes new names in a directory last; where directories cannot be forced they do by themselves. */
    static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (AccessDeniedException e) {
            return;
        }
    }

    public Path path() {
        return path;
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
    public byte[] secret(String name, int bytes) {
        Path file = path.resolve(name);
        try {
            if (!Files.exists(file)) {
                byte[] fresh = new byte[bytes];
                new SecureRandom().nextBytes(fresh);
                writePrivate(path, name, fresh);
            }
            byte[] kept = Files.readAllBytes(file);
            if (kept.length != bytes) {
                throw MillraceException.external(
                        SqlState.DATA_CORRUPTED, file + " has " + kept.length + " bytes, not " + bytes);
            }
            return kept;
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot use " + file + ": " + e.getMessage(), e);
        }
    }

    /** A whole file or none is there under its name, on disk when this returns. */
    private static void writePrivate(Path directory, String name, byte[] content) throws IOException {
        Path beside = directory.resolve(name + ".new");
        Files.deleteIfExists(beside);
        try (FileChannel out = createPrivate(beside)) {
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.force(true);
        }
        Files.move(beside, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        force(directory);
    }

    /** Where the jar of this hash is kept, if it is. */
    public Optional<Path> jar(String hash) {
        return Optional.of(path.resolve(JARS).resolve(hash + ".jar")).filter(Files::exists);
    }

    /** Keeps a copy of a jar under its hash; when this returns, it is on disk. */
    public void keepJar(String hash, Path from) {
        if (jar(hash).isPresent()) {
            return;
        }
        try {
            Path jars = path.resolve(JARS);
            Files.createDirectories(jars);
            writePrivate(jars, hash + ".jar", Files.readAllBytes(from));
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "cannot keep " + from + " in " + path + ": " + e.getMessage(), e);
        }
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            return; // it was only read from
        }
    }

    /** Lets another database have it. The lock file stays: removing it could remove that of the next. */
    @Override
    public void close() {
        try {
            log.close();
            lock.release();
            lockFile.close();
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot close " + path + ": " + e.getMessage(), e);
        }
    }
}
