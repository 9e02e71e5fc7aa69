package dev.millrace.engine.checkpoint;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What was written for a checkpoint and has not gone to its writer yet: blocks of memory, by section. Filled by any thread, emptied
 * by the one that made it, a section at a time. Who fills it waits while it is full, but for the section that is being
 * written, so that this one always comes to its end; and but for sections that are filled little by little, which look for room first.
 *
 * <pre>
 *   begin -> (take, put)* -> put the last        drain: the oldest section with something in it, to its end; then the next
 * </pre>
 */
final class Spool implements AutoCloseable {
    private static final long LOOK_MILLIS = 10;

    /** One section under way. */
    static final class Section {
        private final String name;
        private final boolean whole; // written only when it is complete
        private final Optional<SectionContents> contents; // that the writer is told of
        private final ArrayDeque<Block> blocks = new ArrayDeque<>(); // guarded by the spool
        private boolean complete; // likewise
        private boolean begun; // the emptying thread's

        private Section(String name, boolean whole, Optional<SectionContents> contents) {
            this.name = name;
            this.whole = whole;
            this.contents = contents;
        }

        private boolean isDue() {
            return !blocks.isEmpty() && (complete || !whole);
        }

        String name() {
            return name;
        }
    }

    private record Block(ArrowBuf memory, int length) {}

    private final BufferAllocator allocator;
    private final long mostBytes;
    private final Runnable onBlock;
    private final Thread emptying = Thread.currentThread();

    @GuardedBy("this") private final ArrayDeque<Section> sections = new ArrayDeque<>();

    @GuardedBy("this") private Optional<Section> draining = Optional.empty();

    @GuardedBy("this") private long bytes;

    @GuardedBy("this") private boolean closed;

    private long written; // the emptying thread's

    /**
     * @param mostBytes beyond which who fills it waits
     * @param onBlock called when there is something to write, with no lock held
     */
    Spool(BufferAllocator allocator, long mostBytes, Runnable onBlock) {
        this.allocator = allocator;
        this.mostBytes = mostBytes;
        this.onBlock = onBlock;
    }

    /**
     * @param whole it is filled bit by bit, and nobody is to wait for that: what fills it does not wait for room, and is not written before
     *     it is complete
     * @param contents that the writer has not had before, if it is to know them
     */
    synchronized Section begin(String name, boolean whole, Optional<SectionContents> contents) {
        Section section = new Section(name, whole, contents);
        sections.add(section);
        return section;
    }

    /** Whether there is room for some more; who empties it does not wait for any. */
    synchronized boolean hasRoom() {
        return closed || bytes <= mostBytes / 2 || Thread.currentThread() == emptying;
    }

    /** Waits a little for room. */
    synchronized void awaitRoom() {
        if (!hasRoom()) {
            try {
                wait(LOOK_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Nothing more comes of a section, which nobody is going to read. */
    void abandon(Section section) {
        synchronized (this) {
            section.complete = true;
        }
        onBlock.run();
    }

    /**
     * Memory for more of a section; waits for room.
     *
     * @throws MillraceException when the checkpoint has ended meanwhile, or the caller's interrupt is stopped
     * @throws org.apache.arrow.memory.OutOfMemoryException if none is to spare
     */
    ArrowBuf take(Section section, int size) {
        synchronized (this) {
            while (!closed
                    && bytes + size > mostBytes
                    && !section.whole
                    && Thread.currentThread() != emptying
                    && draining.filter(one -> one == section).isEmpty()) {
                Interrupt.checkCurrent();
                try {
                    wait(LOOK_MILLIS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new Barrier.Over();
                }
            }
            if (closed) {
                throw new Barrier.Over();
            }
            bytes += size;
        }
        try {
            return allocator.buffer(size);
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                bytes -= size;
            }
            throw e;
        }
    }

    /** Takes a block over. */
    void put(Section section, ArrowBuf memory, int size, int length, boolean last) {
        boolean mine;
        synchronized (this) {
            mine = !closed;
            if (mine) {
                section.blocks.add(new Block(memory, length));
                section.complete = last;
                bytes += memory.capacity() - size; // what it really takes
            }
        }
        if (mine) {
            onBlock.run();
        } else {
            memory.close();
        }
    }

    /** Writes what is there, as far as sections follow each other; by the thread that made this. */
    void drain(CheckpointWriter writer) throws IOException {
        while (true) {
            Section section;
            Block block;
            synchronized (this) {
                if (draining.isEmpty()) {
                    draining = sections.stream().filter(Section::isDue).findFirst();
                    notifyAll(); // it is filled without waiting from now on
                }
                if (draining.isEmpty()) {
                    return;
                }
                section = draining.get();
                block = section.blocks.poll();
                if (block == null) {
                    if (!section.complete) {
                        return;
                    }
                    sections.remove(section);
                    draining = Optional.empty();
                    continue;
                }
            }
            write(section, block, writer);
        }
    }

    private void write(Section section, Block block, CheckpointWriter writer) throws IOException {
        try {
            if (!section.begun) {
                section.begun = true;
                if (section.contents.isPresent() && writer.keep(section.contents.get())) {
                    throw new IllegalStateException("section \"" + section.name + "\" is there before it was written");
                }
                writer.begin(section.name);
            }
            writer.write(block.memory.nioBuffer(0, block.length));
            written += block.length;
        } finally {
            long freed = block.memory.capacity();
            block.memory.close();
            synchronized (this) {
                bytes -= freed;
                notifyAll();
            }
        }
    }

    /** Whether there is something to write. */
    synchronized boolean hasBlocks() {
        if (draining.isPresent()) {
            Section section = draining.get();
            return !section.blocks.isEmpty() || section.complete;
        }
        return sections.stream().anyMatch(Section::isDue);
    }

    /** Bytes that went to the writer; for the thread that made this. */
    long written() {
        return written;
    }

    /** Frees all; who waits for room is told that there will be none. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Section section : sections) {
                section.blocks.forEach(block -> all.add(block.memory));
                section.blocks.clear();
            }
            sections.clear();
            notifyAll();
        }
        Closing.all(all);
    }
}
