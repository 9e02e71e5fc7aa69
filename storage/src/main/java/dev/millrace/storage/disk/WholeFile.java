package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
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
        String beside = name + NEW;
        if (disk.list().contains(beside)) {
            disk.delete(beside);
        }
        try (DiskFile file = disk.create(beside)) {
            file.write(bytes, 0);
            file.force();
        }
        disk.rename(beside, name);
        disk.forceNames();
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
