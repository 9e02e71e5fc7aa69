package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;

/**
 * Small files that are written as a whole: at any time, also after the machine has stopped, the old or the new one is there. One thread
 * at a time for one name.
 */
public final class WholeFile {
    private static final String NEW = ".new";

    private WholeFile() {}

    /** Writes a file in the place of the one that has its name; it lasts when this returns. After an error either may last. */
    public static void write(Disk disk, String name, ByteBuffer bytes) throws IOException {
        try (DiskFile file = beside(disk, name)) {
            long length = bytes.remaining();
            if (file.size() > length) {
                file.truncate(length);
            }
            file.write(bytes, 0);
            file.force();
        }
        disk.rename(name + NEW, name);
        disk.forceNames();
    }

    /** Takes the room that writing so many bytes under a name will need once, so that it needs no more on a full disk. */
    public static void takeRoom(Disk disk, String name, int bytes) throws IOException {
        try (DiskFile file = beside(disk, name)) {
            file.write(ByteBuffer.allocate(bytes), 0);
            file.force();
        }
    }

    /** The file that will be renamed. */
    private static DiskFile beside(Disk disk, String name) throws IOException {
        String beside = name + NEW;
        return disk.list().contains(beside) ? disk.open(beside) : disk.create(beside);
    }

    /**
     * All bytes of a file, from 0 to the limit.
     *
     * @param most how many bytes it may have
     * @throws dev.millrace.error.MillraceException XX001 if it has more
     */
    public static ByteBuffer read(Disk disk, String name, int most) throws IOException {
        try (DiskFile file = disk.open(name)) {
            long size = file.size();
            if (size > most) {
                throw DiskErrors.damaged(
                        disk.path(name), most, "it has " + size + " bytes, and at most " + most + " are written");
            }
            ByteBuffer bytes = ByteBuffer.allocate((int) size);
            file.read(bytes, 0);
            return bytes.flip();
        }
    }

    /** The length of a file in bytes; 0 if there is none. */
    public static long length(Disk disk, String name) throws IOException {
        try (DiskFile file = disk.open(name)) {
            return file.size();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /** Removes what {@link #write} left beside files when it did not end. */
    public static void removeUnfinished(Disk disk) throws IOException {
        List<String> names = disk.list();
        for (String name : names) {
            if (name.endsWith(NEW)) {
                disk.delete(name);
            }
        }
    }
}
