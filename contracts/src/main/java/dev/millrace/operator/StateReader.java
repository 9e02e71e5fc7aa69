package dev.millrace.operator;

import java.io.DataInput;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Where a snapshot is restored from. */
public interface StateReader {
    /**
     * Calls back for each stored key group of a state (and -1) as often as it was begun, with its bytes; groups not owned are left out, and
     * what has this name in another version is an error.
     */
    void keyGroups(StateFormat state, GroupReader restore);

    /** Takes the bytes of one key group. */
    @FunctionalInterface
    interface GroupReader {
        /** Reads what {@link Operator#snapshot} wrote; what it throws ends the restoration. */
        void read(DataInput in, int group) throws IOException;

        /** Reads bytes of memory, which cannot fail to be read. */
        default void accept(DataInput in, int group) {
            try {
                read(in, group);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
