package dev.millrace.engine.state.cold;

import dev.millrace.memory.Memory;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Marks of the entries of a run: a bit for each of them, off the heap, from the first one that is set on. One thread. */
final class ColdMarks implements AutoCloseable {
    private static final int CHUNK_WORDS = 1 << 10;

    private final BufferAllocator allocator;
    private final int most;
    private Optional<ColdPages> words = Optional.empty();
    private int size;

    /** @param most how many entries there are at most */
    ColdMarks(BufferAllocator allocator, int most) {
        this.allocator = allocator;
        this.most = most;
    }

    /** How many there are. */
    int size() {
        return size;
    }

    boolean get(int i) {
        return size > 0 && (word(i >>> 6) >>> i & 1) != 0;
    }

    void set(int i) {
        if (words.isEmpty()) {
            int count = (most >>> 6) + 1;
            ColdPages made = new ColdPages(allocator, Long.BYTES, Long.BYTES * CHUNK_WORDS, count);
            words = Optional.of(made);
            for (int word = 0; word < count; word++) {
                Memory.putLong(made.add(), 0);
            }
        }
        put(i >>> 6, word(i >>> 6) | 1L << i);
    }

    /** Sets all that another one of the same entries has. */
    void addAll(ColdMarks other) {
        if (other.size == 0) {
            return;
        }
        for (int word = 0; word <= most >>> 6; word++) {
            long theirs = other.word(word);
            if (theirs != 0) {
                set((word << 6) + Long.numberOfTrailingZeros(theirs)); // so that there is room
                put(word, word(word) | theirs);
            }
        }
    }

    private long word(int word) {
        return Memory.getLong(words.orElseThrow().at(word));
    }

    private void put(int word, long value) {
        size += Long.bitCount(value) - Long.bitCount(word(word));
        Memory.putLong(words.orElseThrow().at(word), value);
    }

    /** Takes all away. */
    void clear() {
        words.ifPresent(ColdPages::close);
        words = Optional.empty();
        size = 0;
    }

    @Override
    public void close() {
        clear();
    }
}
