package dev.millrace.storage.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.memory.Memory;
import dev.millrace.memory.SpillSpace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.arrow.memory.util.MemoryUtil;

/**
 * Memory in mapped files of 64 MB, cut by halves into pieces of 4 kB and more; what is larger, up to 1 GB, has a file of its
 * own. A file is written whole before it is mapped: where a disk has no room that is found then, and not by who writes to memory.
 * The system's page cache has of it what fits, and writes what changed behind.
 *
 * <p>A file's name is removed as soon as it is mapped, and its room is free when it is unmapped: when all pieces of it are given
 * back, but for one file that stays for the next, or when the process ends. Names that are left by a process that ended in
 * between are removed when the next one begins. Safe on any thread; the disk is waited for by who asks for another file only.
 */
public final class SpillFiles implements SpillSpace {
    static final long FILE_BYTES = 64L << 20;
    private static final int LEAST_ORDER = 12;
    private static final int FILE_ORDER = 26;
    private static final long MOST_BYTES = 1L << 30;
    private static final int WRITTEN_BYTES = 1 << 20;
    private static final int MAP_TRIES = 100;

    /** A twentieth of the disk, 1 GB at most, is left to what must be written: rows, definitions, checkpoints. */
    private static final int RESERVED_PART = 20;

    private static final long MOST_RESERVED_BYTES = 1L << 30;

    /** Where files are; made when the first is needed. */
    private interface Place {
        Path make() throws IOException;

        void remove();
    }

    private record MappedFile(MappedByteBuffer mapping, long base, long bytes) {}

    private final Place place;
    private final AtomicLong names = new AtomicLong();
    private final Object growing = new Object(); // held while the disk is waited for

    @GuardedBy("this") private final TreeMap<Long, MappedFile> files = new TreeMap<>(); // by where they begin

    @GuardedBy("this") private final List<TreeSet<Long>> free = new ArrayList<>(); // by order, of files that are cut

    @GuardedBy("this") private final Map<Long, Integer> taken = new HashMap<>(); // the order of each piece

    @GuardedBy("this") private boolean closed;

    private SpillFiles(Place place) {
        this.place = place;
        for (int order = 0; order <= FILE_ORDER; order++) {
            free.add(new TreeSet<>());
        }
    }

    /**
     * Files in a directory that is nobody else's, which is made when it is needed; files that an earlier process left there are removed.
     *
     * @throws IOException if they cannot be
     */
    public static SpillFiles in(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            clear(directory);
        }
        return new SpillFiles(new Place() {
            @Override
            public Path make() throws IOException {
                Path parent = Objects.requireNonNull(directory.toAbsolutePath().getParent()); // it has a name
                new RealDisk(parent).directory(String.valueOf(directory.getFileName()));
                return directory;
            }

            @Override
            public void remove() {
                removeDirectory(directory);
            }
        });
    }

    /** Files in the system's directory for temporary ones. */
    public static SpillFiles temporary() {
        return new SpillFiles(new Place() {
            private final List<Path> made = new ArrayList<>(1); // under the lock of who grows

            @Override
            public Path make() throws IOException {
                if (made.isEmpty()) {
                    made.add(Files.createTempDirectory("millrace-spill-"));
                }
                return made.get(0);
            }

            @Override
            public void remove() {
                made.forEach(SpillFiles::removeDirectory);
                made.clear();
            }
        });
    }

    private static void clear(Path directory) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, Files::isRegularFile)) {
            for (Path file : left) {
                Files.delete(file);
            }
        }
    }

    private static void removeDirectory(Path directory) {
        try {
            if (Files.isDirectory(directory)) {
                clear(directory);
                Files.delete(directory);
            }
        } catch (IOException e) {
            System.getLogger(SpillFiles.class.getPackageName())
                    .log(System.Logger.Level.WARNING, directory + " is left behind", e);
        }
    }

    // ---- pieces ----------------------------------------------------------------------------------------------------

    @Override
    public long allocate(long bytes) throws IOException {
        if (bytes > MOST_BYTES) {
            throw new IOException("a piece of " + bytes + " bytes is more than can be mapped at once");
        }
        int order = Math.max(LEAST_ORDER, Long.SIZE - Long.numberOfLeadingZeros(bytes - 1));
        if (order <= FILE_ORDER) {
            long there = cut(order);
            if (there != 0) {
                return there;
            }
        }
        synchronized (growing) {
            long there = order <= FILE_ORDER ? cut(order) : 0; // of a file that another thread brought meanwhile
            return there != 0 ? there : add(map(Math.max(FILE_BYTES, 1L << order)), order);
        }
    }

    /** A piece of what is there, or 0. */
    private synchronized long cut(int order) {
        requireOpen();
        int found = order;
        while (found <= FILE_ORDER && free.get(found).isEmpty()) {
            found++;
        }
        if (found > FILE_ORDER) {
            return 0;
        }
        long piece = free.get(found).first();
        free.get(found).remove(piece);
        while (found > order) {
            found--;
            free.get(found).add(piece + (1L << found));
        }
        taken.put(piece, order);
        return piece;
    }

    private synchronized long add(MappedFile file, int order) {
        if (closed) {
            Memory.unmap(file.mapping());
            requireOpen();
        }
        files.put(file.base(), file);
        if (order > FILE_ORDER) {
            taken.put(file.base(), order);
            return file.base();
        }
        free.get(FILE_ORDER).add(file.base());
        return cut(order);
    }

    @GuardedBy("this") private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed");
        }
    }

    @Override
    public synchronized void free(long address) {
        if (closed) {
            return;
        }
        Integer order = taken.remove(address);
        if (order == null) {
            throw new IllegalStateException("no piece begins there");
        }
        MappedFile file = files.floorEntry(address).getValue();
        if (order > FILE_ORDER) {
            unmap(file);
            return;
        }
        long joined = address;
        int joinedOrder = order;
        while (joinedOrder < FILE_ORDER) {
            long neighbour = file.base() + (joined - file.base() ^ 1L << joinedOrder);
            if (!free.get(joinedOrder).remove(neighbour)) {
                break;
            }
            joined = Math.min(joined, neighbour);
            joinedOrder++;
        }
        if (joinedOrder == FILE_ORDER && !free.get(FILE_ORDER).isEmpty()) {
            unmap(file); // one that is empty is kept
        } else {
            free.get(joinedOrder).add(joined);
        }
    }

    @GuardedBy("this") private void unmap(MappedFile file) {
        files.remove(file.base());
        Memory.unmap(file.mapping());
    }

    /** Bytes of all files. */
    synchronized long bytes() {
        return files.values().stream().mapToLong(MappedFile::bytes).sum();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            files.values().forEach(file -> Memory.unmap(file.mapping()));
            files.clear();
            free.forEach(TreeSet::clear);
            taken.clear();
        }
        synchronized (growing) { // who waits for the disk is done, and has seen that this is closed
            place.remove();
        }
    }

    // ---- files -----------------------------------------------------------------------------------------------------

    private MappedFile map(long bytes) throws IOException {
        Path directory = place.make();
        Disk disk = new RealDisk(directory);
        String name = "spill-" + names.incrementAndGet();
        try {
            requireRoom(directory, bytes);
            write(disk, name, bytes);
            MappedByteBuffer mapping = mapUninterrupted(directory.resolve(name), bytes);
            return new MappedFile(mapping, MemoryUtil.getByteBufferAddress(mapping), bytes);
        } catch (DiskFullException e) {
            throw new NoRoomException(e.getMessage() + " (" + directory + ")", e);
        } finally {
            if (disk.has(name)) {
                disk.delete(name);
            }
        }
    }

    private static void requireRoom(Path directory, long bytes) throws IOException {
        FileStore store = Files.getFileStore(directory);
        long reserved = Math.min(MOST_RESERVED_BYTES, store.getTotalSpace() / RESERVED_PART);
        if (store.getUsableSpace() - reserved < bytes) {
            throw new DiskFullException(
                    "no space left but for " + (reserved >> 20) + " MB that are for what must be written");
        }
    }

    private static void write(Disk disk, String name, long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(WRITTEN_BYTES);
        try (DiskFile file = disk.create(name)) {
            for (long at = 0; at < bytes; at += WRITTEN_BYTES) {
                zeros.clear();
                file.write(zeros, at);
            }
        }
    }

    /** Maps a file; that a statement is cancelled, which closes such a channel, is seen by others. */
    private static MappedByteBuffer mapUninterrupted(Path path, long bytes) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            for (int tries = 1; ; tries++) {
                try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                    if (tries == MAP_TRIES) {
                        throw e;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
