package dev.millrace.storage.disk;

import java.io.IOException;
import java.util.List;

/**
 * One directory of files, by names without a path. Any thread; who changes the same name at the same time as another gets
 * one of the two orders.
 *
 * <p>Each call may block for as long as the disk does. Errors are {@link IOException}: {@link DiskFullException} where no room is
 * left, {@link java.nio.file.NoSuchFileException} and {@link java.nio.file.FileAlreadyExistsException} where they say it.
 */
public interface Disk {
    /** A new file, empty, that only its owner may read; its name lasts after {@link #forceNames}. The caller closes it. */
    DiskFile create(String name) throws IOException;

    /** A file that is there, to read and write. The caller closes it. */
    DiskFile open(String name) throws IOException;

    /** Gives a file another name, in the place of a file that has it: whoever looks sees the one or the other. */
    void rename(String from, String to) throws IOException;

    /** Removes a file; its room is free once nobody has it open. */
    void delete(String name) throws IOException;

    /** The names of all files, sorted. Directories are not among them. */
    List<String> list() throws IOException;

    /** Whether a file, or a directory inside this one, has this name. */
    boolean has(String name) throws IOException;

    /** Makes what names were made, changed and removed before it last. */
    void forceNames() throws IOException;

    /** A directory inside this one, made if it is not there; that it is there lasts when this returns. */
    Disk directory(String name) throws IOException;

    /** The names of the directories inside this one, sorted. */
    List<String> directories() throws IOException;

    /** Removes a directory inside this one with its files; nobody uses it. A crash may leave some of it. */
    void removeDirectory(String name) throws IOException;

    /** How errors name a file. */
    String path(String name);
}
