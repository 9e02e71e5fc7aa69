package dev.millrace.server.storage;

import dev.millrace.memory.SpillSpace;
import dev.millrace.storage.disk.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Where a data directory is; tests have one that is not on the machine. Any thread. */
public interface DataPlace {
    /**
     * Takes it for one database; makes it if it is not there.
     *
     * @throws dev.millrace.error.MillraceException F0001 if another database has it; 53100 or 58030 if it cannot be used
     */
    Taken take();

    /** A directory of the machine. */
    static DataPlace of(Path path) {
        return () -> LockedDirectory.take(path);
    }

    /**
     * The number of the process that has a directory of the machine open, if one has; empty text where that is not known.
     *
     * @throws IOException where that cannot be read
     */
    static Optional<String> user(Path path) throws IOException {
        return LockedDirectory.user(path);
    }

    /** A place that one database has, until it is closed; its owner's. */
    interface Taken extends AutoCloseable {
        /** Its files. */
        Disk disk();

        /** Where the state of queries may be that goes beyond the memory, of which nothing is kept; for one engine, which closes it. */
        default SpillSpace spill() {
            return SpillSpace.NONE;
        }

        /** Lets another database have it; more than once is allowed. */
        @Override
        void close();
    }
}
