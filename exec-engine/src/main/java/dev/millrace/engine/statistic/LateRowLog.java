package dev.millrace.engine.statistic;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.time.Clock;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * Counts a query's late rows and keeps the last of them, as texts in memory that it can do without: when memory ends, or there are too
 * many, the oldest go. Not on the Java heap, where late rows of a thousand queries would leave no room for anything else. Safe on
 * any thread.
 */
public final class LateRowLog implements AutoCloseable {
    private static final int FIRST_PAGE_BYTES = 4 << 10;
    private static final int LARGEST_PAGE_BYTES = 64 << 10;
    private static final int HEADER_BYTES = 2 * Long.BYTES + Integer.BYTES; // the times, then the length of the text
    private static final long MOST_BYTES = 4 << 20;

    /** Rows one behind the other. */
    private static final class Page implements AutoCloseable {
        final ArrowBuf buffer;
        int rows;
        long end;

        Page(ArrowBuf buffer) {
            this.buffer = buffer;
        }

        @Override
        public void close() {
            buffer.close();
        }
    }

    private final Clock clock;
    private final Supplier<BufferAllocator> newAllocator;

    @GuardedBy("this") private Optional<BufferAllocator> allocator = Optional.empty(); // once there is a row

    @GuardedBy("this") private final Deque<Page> pages = new ArrayDeque<>(0);

    @GuardedBy("this") private long count;

    @GuardedBy("this") private int kept;

    @GuardedBy("this") private long bytes; // of the pages

    @GuardedBy("this") private boolean closed;

    /** @param newAllocator called when the first row comes, if any does; whoever gives the allocator closes it */
    public LateRowLog(Clock clock, Supplier<BufferAllocator> newAllocator) {
        this.clock = clock;
        this.newAllocator = newAllocator;
    }

    public synchronized void add(Batch batch, int[] rows, int rowCount, long watermarkMicros) {
        count += rowCount;
        long now = clock.epochMicros();
        for (int i = Math.max(0, rowCount - LateRow.KEPT); i < rowCount && !closed; i++) {
            byte[] text = LateRowText.of(batch, rows[i]).getBytes(StandardCharsets.UTF_8);
            int length = (int) Math.min(text.length, MOST_BYTES / 4);
            if (makeRoom(HEADER_BYTES + length)) {
                append(now, watermarkMicros, text, length);
            }
        }
    }

    @GuardedBy("this") private void append(long now, long watermarkMicros, byte[] text, int length) {
        Page page = pages.getLast();
        page.buffer.setLong(page.end, now);
        page.buffer.setLong(page.end + Long.BYTES, watermarkMicros);
        page.buffer.setInt(page.end + 2 * Long.BYTES, length);
        page.buffer.setBytes(page.end + HEADER_BYTES, text, 0, length);
        page.end += HEADER_BYTES + length;
        page.rows++;
        kept++;
        while (kept - pages.getFirst().rows >= LateRow.KEPT) {
            dropOldest();
        }
    }

    /** Whether the last page has room for so much now. */
    @GuardedBy("this") private boolean makeRoom(int needed) {
        if (!pages.isEmpty()
                && pages.getLast().end + needed <= pages.getLast().buffer.capacity()) {
            return true;
        }
        long size = Math.max(needed, Math.min(LARGEST_PAGE_BYTES, Math.max(FIRST_PAGE_BYTES, bytes)));
        while (!pages.isEmpty() && bytes + size > MOST_BYTES) {
            dropOldest();
        }
        try {
            if (allocator.isEmpty()) {
                allocator = Optional.of(newAllocator.get());
            }
            Page page = new Page(allocator.get().buffer(size));
            pages.add(page);
            bytes += page.buffer.capacity();
            return true;
        } catch (OutOfMemoryException e) {
            if (!pages.isEmpty()) {
                dropOldest(); // others need it more
            }
            return false;
        }
    }

    @GuardedBy("this") private void dropOldest() {
        try (Page oldest = pages.remove()) {
            kept -= oldest.rows;
            bytes -= oldest.buffer.capacity();
        }
    }

    public synchronized long count() {
        return count;
    }

    /** Those that are kept, the oldest first. */
    public synchronized List<LateRow> rows() {
        List<LateRow> rows = new ArrayList<>(kept);
        for (Page page : pages) {
            for (long at = 0; at < page.end; ) {
                byte[] text = new byte[page.buffer.getInt(at + 2 * Long.BYTES)];
                page.buffer.getBytes(at + HEADER_BYTES, text);
                rows.add(new LateRow(
                        page.buffer.getLong(at),
                        page.buffer.getLong(at + Long.BYTES),
                        new String(text, StandardCharsets.UTF_8)));
                at += HEADER_BYTES + text.length;
            }
        }
        return rows.size() <= LateRow.KEPT ? rows : rows.subList(rows.size() - LateRow.KEPT, rows.size());
    }

    /** Forgets all rows, and keeps none that come. */
    @Override
    public synchronized void close() {
        closed = true;
        List<Page> all = List.copyOf(pages);
        pages.clear();
        kept = 0;
        bytes = 0;
        Closing.all(all);
    }
}
