package dev.millrace.engine.aggregate;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import java.util.Optional;

/**
 * Groups that were told to have failed: what was said of each, in memory beside its entry, since the same is said when that is taken
 * back, whatever the group's values are by then. One thread.
 *
 * <pre>
 *   a word of the entry: 0, or where there are  length, 8 bytes | {@link FailureText}
 * </pre>
 */
final class FailedGroups {
    private static final int HEADER_BYTES = 8;

    private final StateMemory memory;
    private final int offset;
    private long count; // of those that fail: hardly ever any

    /** @param offset of the word in an entry */
    FailedGroups(StateMemory memory, int offset) {
        this.memory = memory;
        this.offset = offset;
    }

    boolean has(long entry) {
        return count > 0 && Memory.getLong(entry + offset) != 0;
    }

    MillraceException why(long entry) {
        long block = Memory.getLong(entry + offset);
        byte[] text = new byte[(int) Memory.getLong(block)];
        Memory.copyOut(block + HEADER_BYTES, text, 0, text.length);
        return FailureText.of(text);
    }

    /** What is told of a group now; nothing if it does not fail. */
    void put(long entry, Optional<MillraceException> why) {
        if (has(entry)) {
            long block = Memory.getLong(entry + offset);
            Memory.putLong(entry + offset, 0);
            count--;
            memory.free(block, HEADER_BYTES + (int) Memory.getLong(block));
        }
        if (why.isPresent()) {
            byte[] text = FailureText.bytes(why.get());
            long block = memory.allocate(HEADER_BYTES + text.length);
            Memory.putLong(block, text.length);
            Memory.copyIn(text, 0, block + HEADER_BYTES, text.length);
            Memory.putLong(entry + offset, block);
            count++;
        }
    }
}
