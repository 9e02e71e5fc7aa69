package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A directory of the machine. Files and directories that it makes are their owner's alone.
 *
 * <p>{@link Thread#interrupt} does nothing to a thread that reads or writes: its channels are not those that are closed then.
 */
public final class RealDisk implements Disk {
    private static final List<String> NO_ROOM =
            List.of("No space left", "Disk quota exceeded", "not enough space on the disk");

    private final Path directory;
    private final boolean readOnly;

    /** The files of a directory that is there. */
    public RealDisk(Path directory) {
        this(directory, false);
    }

    private RealDisk(Path directory, boolean readOnly) {
        this.directory = directory;
        this.readOnly = readOnly;
    }

    /** The files of a directory that is there, which may belong to somebody else: files are opened to be read, and not made. */
    public static RealDisk readOnly(Path directory) {
        return new RealDisk(directory, true);
    }

    @Override
    public DiskFile create(String name) throws IOException {
        requireWritable();
        return file(
                name,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                attributes("rw-------"));
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return file(
                name,
                readOnly ? Set.of(StandardOpenOption.READ) : Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    private void requireWritable() throws IOException {
        if (readOnly) {
            throw new IOException("nothing is changed in " + directory);
        }
    }

    private DiskFile file(String name, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        try {
            return new RealFile(
                    AsynchronousFileChannel.open(directory.resolve(name), options, new CallingThread(), attributes));
        } catch (IOException e) {
            throw told(e);
        }
    }

    private FileAttribute<?>[] attributes(String permissions) {
        boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }

    @Override
    public void rename(String from, String to) throws IOException {
        requireWritable();
        try {
            Files.move(
                    directory.resolve(from),
                    directory.resolve(to),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw told(e);
        }
    }

    @Override
    public void delete(String name) throws IOException {
        requireWritable();
        Files.delete(directory.resolve(name));
    }

    @Override
    public List<String> list() throws IOException {
        return names(Files::isRegularFile);
    }

    @Override
    public List<String> directories() throws IOException {
        return names(Files::isDirectory);
    }

    private List<String> names(DirectoryStream.Filter<Path> which) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, which)) {
            entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        }
        Collections.sort(names);
        return names;
    }

    @Override
    public boolean has(String name) {
        return Files.exists(directory.resolve(name));
    }

    @Override
    public void forceNames() throws IOException {
        force(directory);
    }

    /** Where directories cannot be opened they need not be forced. */
    private static void force(Path directory) throws IOException {
        AsynchronousFileChannel channel;
        try {
            channel = AsynchronousFileChannel.open(directory, Set.of(StandardOpenOption.READ), new CallingThread());
        } catch (AccessDeniedException e) {
            return;
        }
        try (channel) {
            channel.force(true);
        }
    }

    @Override
    public Disk directory(String name) throws IOException {
        Path inside = directory.resolve(name);
        if (!Files.isDirectory(inside)) {
            requireWritable();
            try {
                Files.createDirectory(inside, attributes("rwx------"));
            } catch (IOException e) {
                throw told(e);
            }
            forceNames();
        }
        return new RealDisk(inside, readOnly);
    }

    @Override
    public void removeDirectory(String name) throws IOException {
        requireWritable();
        RealDisk inside = new RealDisk(directory.resolve(name));
        for (String file : inside.list()) {
            inside.delete(file);
        }
        Files.delete(directory.resolve(name));
        forceNames();
    }

    @Override
    public String path(String name) {
        return directory.resolve(name).toString();
    }

    /** The same error, as one of a full disk where it is that. The JDK tells them apart by the system's text alone. */
    private static IOException told(IOException error) {
        String message = String.valueOf(error.getMessage());
        return NO_ROOM.stream().anyMatch(message::contains) ? new DiskFullException(message, error) : error;
    }

    /** Has a channel do at once what it is asked for. */
    private static final class CallingThread extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    private static final class RealFile implements DiskFile {
        private final AsynchronousFileChannel channel;

        RealFile(AsynchronousFileChannel channel) {
            this.channel = channel;
        }

        @Override
        public int read(ByteBuffer into, long position) throws IOException {
            int before = into.position();
            while (into.hasRemaining()) {
                if (done(channel.read(into, position + into.position() - before)) < 0) {
                    break;
                }
            }
            return into.position() - before;
        }

        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            try {
                long at = position;
                while (from.hasRemaining()) {
                    at += done(channel.write(from, at));
                }
            } catch (IOException e) {
                throw told(e);
            }
        }

        /** The bytes of a call, which has ended unless the system has others do it. */
        private static int done(Future<Integer> call) throws IOException {
            boolean interrupted = false;
            try {
                while (true) {
                    try {
                        return call.get();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        public void force() throws IOException {
            try {
                channel.force(false);
            } catch (IOException e) {
                throw told(e);
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            channel.truncate(bytes);
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
