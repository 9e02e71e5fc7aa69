package dev.millrace.server.storage;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.log.WriteAheadLog;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What definitions know of a log beside them, so that one that is gone, of another database, or an older copy is not taken for it.
 *
 * @param identity of its files
 * @param last number of a record that it has had on disk
 */
public record KnownLog(long identity, long last) {
    private static final String CURE =
            "put the directory back from a backup; ./millrace verify says what else is damaged";

    /** As it is now. */
    public static KnownLog of(WriteAheadLog log) {
        return new KnownLog(log.identity(), log.lastDurable());
    }

    /** Of what a directory has that should have this log; what is wrong, if anything is. */
    public Optional<String> misfit(Disk files) throws IOException {
        OptionalLong found = WriteAheadLog.identity(files);
        String path = files.path("");
        if (found.isEmpty() && !isThere(files)) {
            return Optional.of(path + " is missing or empty: there was a log in it");
        }
        return found.isPresent() && found.getAsLong() != identity
                ? Optional.of(path + " is of another database: its log is "
                        + Long.toHexString(found.getAsLong()) + ", and " + CatalogLog.NAME + " knows "
                        + Long.toHexString(identity))
                : Optional.empty();
    }

    private static boolean isThere(Disk files) throws IOException {
        try {
            return WriteAheadLog.exists(files);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** The same of the number of the last record in it. */
    public Optional<String> misfit(Disk files, long lastThere) {
        return lastThere < last
                ? Optional.of(files.path("") + " is an older copy: it ends with record " + lastThere + ", and record "
                        + last + " was on disk")
                : Optional.empty();
    }

    /** @throws MillraceException XX001 if a directory has not this log */
    public void requireIn(Disk files) {
        try {
            require(misfit(files));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + files.path(""), e);
        }
    }

    /** @throws MillraceException XX001 if the log that a directory has, and that was opened, ends too early */
    public void requireLast(Disk files, long lastThere) {
        require(misfit(files, lastThere));
    }

    private static void require(Optional<String> misfit) {
        misfit.ifPresent(what -> {
            throw MillraceException.external(SqlState.DATA_CORRUPTED, what).withHint(CURE);
        });
    }
}
