package dev.millrace.memory;

import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Decides for the large chunks of a root allocator whether they come from the system or from elsewhere. Safe on any thread. */
public interface ChunkSource {
    /** An allocator of this name is of what is to be on disk, where anything can be. */
    String ON_DISK = "on disk";

    /** All come from the system. */
    ChunkSource SYSTEM = new ChunkSource() {
        @Override
        public long leastBytes() {
            return Long.MAX_VALUE;
        }

        @Override
        public Optional<Chunk> take(BufferAllocator owner, long bytes) {
            return Optional.empty();
        }
    };

    /** A chunk from elsewhere; the allocator's, which gives it back once. */
    interface Chunk {
        long address();

        void giveBack();
    }

    /** Chunks of so many bytes and more are asked for here. */
    long leastBytes();

    /**
     * A chunk, or none if it is to come from the system. Called while {@code owner} has the bytes in its account already.
     *
     * @throws dev.millrace.error.MillraceException if it can be nowhere; the account gets the bytes back
     */
    Optional<Chunk> take(BufferAllocator owner, long bytes);

    /** Bytes that a state of this owner's may have in memory though it could be on disk: all, while memory is not short. */
    default long allowance(BufferAllocator owner) {
        return Long.MAX_VALUE;
    }
}
