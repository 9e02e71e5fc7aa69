package dev.millrace.server.backup;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A disk that takes so many bytes, all directories together, and no more. */
final class SmallDisk implements Disk {
    private final Disk disk;
    private final AtomicLong room;

    SmallDisk(Disk disk, AtomicLong room) {
        this.disk = disk;
        this.room = room;
    }

    private DiskFile file(DiskFile file) {
        return new DiskFile() {
            @Override
            public int read(ByteBuffer into, long position) throws IOException {
                return file.read(into, position);
            }

            @Override
            public void write(ByteBuffer from, long position) throws IOException {
                if (room.addAndGet(-from.remaining()) < 0) {
                    throw new DiskFullException("No space left on device");
                }
                file.write(from, position);
            }

            @Override
            public void force() throws IOException {
                file.force();
            }

            @Override
            public void truncate(long bytes) throws IOException {
                file.truncate(bytes);
            }

            @Override
            public long size() throws IOException {
                return file.size();
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }

    @Override
    public DiskFile create(String name) throws IOException {
        return file(disk.create(name));
    }

    @Override
    public DiskFile open(String name) throws IOException {
        return file(disk.open(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        disk.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        disk.delete(name);
    }

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public boolean has(String name) throws IOException {
        return disk.has(name);
    }

    @Override
    public void forceNames() throws IOException {
        disk.forceNames();
    }

    @Override
    public Disk directory(String name) throws IOException {
        return new SmallDisk(disk.directory(name), room);
    }

    @Override
    public List<String> directories() throws IOException {
        return disk.directories();
    }

    @Override
    public void removeDirectory(String name) throws IOException {
        disk.removeDirectory(name);
    }

    @Override
    public String path(String name) {
        return disk.path(name);
    }
}
