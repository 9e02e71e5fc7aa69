package dev.millrace.storage.disk;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;

/** What users are told of a disk that failed, and of files that are not what was written. Any thread. */
public final class DiskErrors {
    private DiskErrors() {}

    /** 53100 where no room is left, else 58030: {@code cannot write /data/log/x: No space left on device}. */
    public static MillraceException failed(String doing, IOException error) {
        String text = "cannot " + doing + ": " + reason(error);
        return MillraceException.external(stateOf(error), text, error);
    }

    /** The SQLSTATE of an error of the disk. */
    public static SqlState stateOf(IOException error) {
        return error instanceof DiskFullException ? SqlState.DISK_FULL : SqlState.IO_ERROR;
    }

    /** What an error says; its kind where it says nothing. */
    public static String reason(IOException error) {
        String message = error.getMessage();
        return message == null ? error.getClass().getSimpleName() : message;
    }

    /** XX001 at an offset of a file: {@code /data/log/x is damaged at byte 4096: ...}. */
    public static MillraceException damaged(String path, long offset, String what) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, path + " is damaged at byte " + offset + ": " + what);
    }

    /** Throws {@link #damaged} unless something holds that a whole file has. */
    public static void require(boolean holds, String path, long offset, String what) {
        if (!holds) {
            throw damaged(path, offset, what);
        }
    }

    /** XX001 for a file that should be there. */
    public static MillraceException missing(String path, String why) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, path + " is missing: " + why);
    }

    /** F0000 for a format that a later version wrote. */
    public static MillraceException tooNew(String path, int version, int known) {
        return MillraceException.user(
                        SqlState.CONFIG_FILE_ERROR,
                        path + " has format version " + version + ", and this version reads up to " + known)
                .withHint("open it with the version of Millrace that wrote it, or a later one");
    }
}
