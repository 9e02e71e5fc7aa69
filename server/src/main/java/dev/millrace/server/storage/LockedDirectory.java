package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A directory of the machine that this process has for itself, by a lock on the file {@code lock}, which has its number. */
final class LockedDirectory implements DataPlace.Taken {
    private static final String LOCK = "lock";

    private final Path path;
    private final FileChannel lockFile;

    private LockedDirectory(Path path, FileChannel lockFile) {
        this.path = path;
        this.lockFile = lockFile;
    }

    /** See {@link DataPlace#take}. */
    static LockedDirectory take(Path path) {
        try {
            create(path);
            FileChannel lockFile = FileChannel.open(
                    path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            try {
                lock(path, lockFile);
            } catch (IOException | RuntimeException | Error e) {
                lockFile.close();
                throw e;
            }
            return new LockedDirectory(path, lockFile);
        } catch (IOException e) {
            throw MillraceException.external(
                    DiskErrors.stateOf(e), "cannot use the data directory " + path + ": " + e, e);
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
    }

    @Override
    public Disk disk() {
        return new RealDisk(path);
    }

    /** The file stays: removing it could remove that of the next, who may have it open. Closing it frees the lock. */
    @Override
    public void close() {
        try {
            lockFile.close();
        } catch (IOException e) {
            throw DiskErrors.failed("close " + path, e);
        }
    }
}
