package dev.millrace.benchmarks.suite;

import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.SectionContents;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;

/**
 * Copies what checkpoints have within memory, where it is of no use, and remembers what a store would have: the sections of the last one,
 * as long as they are in no more than {@value #MOST_FILES} checkpoints' files. One thread.
 */
final class CopyingWriter implements CheckpointWriter {
    private static final int COPY_BYTES = 1 << 20;
    private static final int MOST_FILES = 16;

    private final ByteBuffer copy = ByteBuffer.allocateDirect(COPY_BYTES);
    private Set<SectionContents> last = new HashSet<>(); // of the one that is finished
    private Set<SectionContents> next = new HashSet<>();
    private int follows; // how many checkpoints go on from others, since one that does not
    private boolean hasKept;

    @Override
    public boolean has(SectionContents contents) {
        return follows < MOST_FILES && last.contains(contents);
    }

    @Override
    public boolean keep(SectionContents contents) {
        boolean isThere = has(contents);
        hasKept |= isThere;
        next.add(contents);
        return isThere;
    }

    @Override
    public void begin(String section) {}

    @Override
    public void write(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            int count = Math.min(COPY_BYTES, bytes.remaining());
            copy.clear();
            copy.put(0, bytes, bytes.position(), count);
            bytes.position(bytes.position() + count);
        }
    }

    /** The checkpoint is one that another may go on from. */
    void finish() {
        follows = hasKept ? follows + 1 : 0;
        hasKept = false;
        last = next;
        next = new HashSet<>();
    }
}
