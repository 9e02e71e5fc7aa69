package dev.millrace.connectors.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** What went wrong with a file, in PostgreSQL's words. */
public final class FileErrors {
    private FileErrors() {}

    /** The error of opening a file {@code purpose}: "for reading" or "for writing". */
    public static MillraceException opening(Path file, String purpose, IOException cause) {
        String what = "could not open file \"" + file + "\" " + purpose + ": ";
        if (cause instanceof NoSuchFileException || cause instanceof java.io.FileNotFoundException) {
            return MillraceException.external(SqlState.UNDEFINED_FILE, what + "no such file or directory", cause);
        }
        if (cause instanceof AccessDeniedException) {
            return MillraceException.external(SqlState.INSUFFICIENT_PRIVILEGE, what + "permission denied", cause);
        }
        return MillraceException.external(SqlState.IO_ERROR, what + reason(cause), cause);
    }

    /** The error of reading on in a file that was opened. */
    public static MillraceException reading(Path file, IOException cause) {
        return MillraceException.external(
                SqlState.IO_ERROR, "could not read file \"" + file + "\": " + reason(cause), cause);
    }

    /** The error of writing to a file that was opened. */
    public static MillraceException writing(Path file, IOException cause) {
        String reason = reason(cause);
        boolean full = reason.contains("No space left") || reason.contains("Disk quota");
        MillraceException error = MillraceException.external(
                full ? SqlState.DISK_FULL : SqlState.IO_ERROR,
                "could not write to file \"" + file + "\": " + (full ? "no space left on device" : reason),
                cause);
        return full ? error.withHint("free some space, then start the sink again") : error;
    }

    /** The error for a directory where a file is needed. */
    public static MillraceException isDirectory(Path directory) {
        return MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + directory + "\" is a directory")
                .withHint("name the files in it, such as '" + directory.resolve("*.csv") + "'");
    }

    static String reason(IOException cause) {
        Optional<String> message = cause instanceof FileSystemException system
                ? Optional.ofNullable(system.getReason())
                : Optional.ofNullable(cause.getMessage());
        return message.orElse(cause.getClass().getSimpleName());
    }
}
