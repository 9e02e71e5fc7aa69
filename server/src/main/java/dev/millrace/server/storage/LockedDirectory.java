package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.SpillSpace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.disk.SpillFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A directory of the machine that this process has for itself, by a lock on the file {@code lock}, which has its number. */
final class LockedDirectory implements DataPlace.Taken {
    static final String LOCK = "lock";
    private static final String SPILL = "spill";

    /** Those of this process: closing any other channel of a lock file would free its lock, as systems have one for all channels. */
    private static final Set<Path> TAKEN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final Path real; // among those that are taken
    private final FileChannel lockFile;

    private LockedDirectory(Path path, Path real, FileChannel lockFile) {
        this.path = path;
        this.real = real;
        this.lockFile = lockFile;
    }

    /** See {@link DataPlace#take}. */
    static LockedDirectory take(Path path) {
        try {
            create(path);
            Path real = path.toRealPath();
            if (!TAKEN.add(real)) {
                throw inUse(path, String.valueOf(ProcessHandle.current().pid()));
            }
            try {
                return new LockedDirectory(path, real, lockFile(path));
            } catch (IOException | RuntimeException | Error e) {
                TAKEN.remove(real);
                throw e;
            }
        } catch (IOException e) {
            throw MillraceException.external(
                    DiskErrors.stateOf(e), "cannot use the data directory " + path + ": " + e, e);
        }
    }

    private static FileChannel lockFile(Path path) throws IOException {
        FileChannel lockFile = FileChannel.open(
                path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            lock(path, lockFile);
            return lockFile;
        } catch (IOException | RuntimeException | Error e) {
            lockFile.close();
            throw e;
        }
    }

    /**
     * The number of the process that has a directory, if one has; empty text where that is not known. Takes no part: of another
     * process it is seen by trying its lock.
     */
    static Optional<String> user(Path path) throws IOException {
        if (TAKEN.contains(path.toRealPath())) {
            return Optional.of(String.valueOf(ProcessHandle.current().pid()));
        }
        if (!Files.exists(path.resolve(LOCK))) {
            return Optional.empty();
        }
        try (FileChannel lockFile = FileChannel.open(path.resolve(LOCK), StandardOpenOption.READ)) {
            @Nullable FileLock shared = lockFile.tryLock(0, Long.MAX_VALUE, true);
            return shared == null ? Optional.of(process(lockFile)) : Optional.empty();
        }
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
        Path absolute = path.toAbsolutePath();
        Path parent = Objects.requireNonNull(absolute.getParent()); // the root is there
        Files.createDirectories(parent);
        new RealDisk(parent).directory(String.valueOf(absolute.getFileName()));
    }

    private static void lock(Path path, FileChannel lockFile) throws IOException {
        @Nullable FileLock lock = lockFile.tryLock();
        if (lock == null) {
            throw inUse(path, process(lockFile));
        }
        lockFile.truncate(0);
        lockFile.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
    }

    private static String process(FileChannel lockFile) throws IOException {
        ByteBuffer number = ByteBuffer.allocate(32);
        lockFile.read(number, 0);
        return new String(number.array(), 0, number.position(), StandardCharsets.US_ASCII).strip();
    }

    private static MillraceException inUse(Path path, String process) {
        return MillraceException.user(
                SqlState.LOCK_FILE_EXISTS,
                "the data directory " + path + " is in use" + (process.isEmpty() ? "" : " by process " + process));
    }

    @Override
    public Disk disk() {
        return new RealDisk(path);
    }

    @Override
    public SpillSpace spill() {
        try {
            return SpillFiles.in(path.resolve(SPILL));
        } catch (IOException e) {
            throw DiskErrors.failed("remove files of an earlier process in " + path.resolve(SPILL), e);
        }
    }

    /** The file stays: removing it could remove that of the next, who may have it open. Closing it frees the lock. */
    @Override
    public void close() {
        if (!lockFile.isOpen()) {
            return; // the directory may be another's by now
        }
        try {
            lockFile.close();
        } catch (IOException e) {
            throw DiskErrors.failed("close " + path, e);
        } finally {
            TAKEN.remove(real);
        }
    }
}
