package dev.millrace.memory;

import java.io.IOException;

/** Memory that is in files, for state beyond what may be in the machine's own. Safe on any thread. */
public interface SpillSpace extends AutoCloseable {
    /** None: everything is in memory. */
    SpillSpace NONE = new SpillSpace() {
        @Override
        public boolean isNone() {
            return true;
        }

        @Override
        public long allocate(long bytes) throws IOException {
            throw new IOException("there is no place for state on disk");
        }

        @Override
        public void free(long address) {
            throw new IllegalStateException("nothing is there");
        }

        @Override
        public void close() {}
    };

    default boolean isNone() {
        return false;
    }

    /** What {@link #allocate} throws where there is no room for more. */
    final class NoRoomException extends IOException {
        private static final long serialVersionUID = 1;

        public NoRoomException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Bytes at an address that stays, with room on the disk for all of them; their contents are undefined.
     *
     * @param bytes a power of two
     * @throws NoRoomException if the disk is full
     * @throws IOException if it fails, or this is more than there can be in one piece; in both cases nothing was taken
     */
    long allocate(long bytes) throws IOException;

    /** Gives back what {@link #allocate} gave, whole. */
    void free(long address);

    /** Gives everything back; nobody may use any of it after that. More than once is allowed. */
    @Override
    void close();
}
