package dev.millrace.engine.subscription;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.Rows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * The newest epochs of a query's output, as many as fit, so that a subscriber that comes again goes on where it was. Begins
 * with the first subscriber. Guarded by itself: added to by committing threads, read while the epochs are at rest.
 *
 * <p>Small epochs are copied together into pages: an epoch of one row takes its bytes and a place in an index, not a batch
 * of its own. Large ones are kept as they are.
 */
public final class ChangeHistory implements AutoCloseable {
    private static final long MOST_BYTES = 16L << 20;
    private static final int PAGE_ROWS = 1024;
    private static final int PAGE_BYTES = 1 << 20;
    private static final int LARGE_ROWS = PAGE_ROWS / 4;
    private static final int LARGE_BYTES = PAGE_BYTES / 4;
    private static final int INDEX_BYTES = 2 * Long.BYTES + Integer.BYTES; // of an epoch

    /** Some epochs: their numbers, times, and where each ends among the rows. */
    private record Page(long[] epochs, long[] micros, int[] ends, List<Batch> rows) implements AutoCloseable {
        long bytes() {
            long sum = (long) INDEX_BYTES * epochs.length;
            for (Batch batch : rows) {
                sum += batch.sizeInBytes();
            }
            return sum;
        }

        long lastMicros() {
            return micros[micros.length - 1];
        }

        @Override
        public void close() {
            Closing.all(rows);
        }
    }

    private final Schema schema;
    private final BufferAllocator allocator;
    private final ArrayDeque<Page> pages = new ArrayDeque<>();
    private long pageBytes;
    private final RowBuffer open; // the page under way, indexed by what follows
    private long[] openEpochs = new long[16];
    private long[] openMicros = new long[16];
    private int[] openEnds = new int[16];
    private int openCount;
    private long openBytes; // of its rows
    private boolean begun;
    private long completeAfterMicros; // every epoch that is later is here

    public ChangeHistory(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.allocator = allocator;
        this.open = new RowBuffer(schema, PAGE_ROWS, allocator);
    }

    /** Keeps epochs from now on. */
    public synchronized void begin(long lastMicros) {
        if (!begun) {
            begun = true;
            completeAfterMicros = lastMicros;
        }
    }

    public synchronized boolean hasBegun() {
        return begun;
    }

    /** Adds an epoch if it changed something; the batches stay the caller's. Without memory the history begins anew. */
    public synchronized void add(long epoch, long micros, List<Batch> batches) {
        if (!begun || batches.isEmpty()) {
            return;
        }
        try {
            int rows = batches.stream().mapToInt(Batch::rowCount).sum();
            long bytes = usedBytes(batches);
            boolean isLarge = rows >= LARGE_ROWS || bytes >= LARGE_BYTES;
            if (isLarge || rows > open.room() || openBytes + bytes > PAGE_BYTES) {
                closePage();
            }
            if (isLarge) {
                batches.forEach(Batch::retain);
                put(new Page(new long[] {epoch}, new long[] {micros}, new int[] {rows}, List.copyOf(batches)));
            } else {
                copy(epoch, micros, batches);
                openBytes += bytes;
            }
        } catch (OutOfMemoryException e) {
            clear();
            completeAfterMicros = micros;
        }
        while (pageBytes > MOST_BYTES) {
            Page oldest = pages.remove();
            pageBytes -= oldest.bytes();
            completeAfterMicros = oldest.lastMicros();
            oldest.close();
        }
    }

    private static long usedBytes(List<Batch> batches) {
        long sum = 0;
        for (Batch batch : batches) {
            for (int column = 0; column < batch.columnCount(); column++) {
                sum += batch.column(column).getBufferSizeFor(batch.rowCount());
            }
        }
        return sum;
    }

    private void copy(long epoch, long micros, List<Batch> batches) {
        for (Batch batch : batches) {
            open.append(batch, Rows.all(batch.rowCount()), 0, batch.rowCount());
        }
        if (openCount == openEpochs.length) {
            openEpochs = Arrays.copyOf(openEpochs, 2 * openCount);
            openMicros = Arrays.copyOf(openMicros, 2 * openCount);
            openEnds = Arrays.copyOf(openEnds, 2 * openCount);
        }
        openEpochs[openCount] = epoch;
        openMicros[openCount] = micros;
        openEnds[openCount++] = open.count();
    }

    private void closePage() {
        if (openCount > 0) {
            int count = openCount;
            openCount = 0;
            openBytes = 0;
            put(new Page(
                    Arrays.copyOf(openEpochs, count),
                    Arrays.copyOf(openMicros, count),
                    Arrays.copyOf(openEnds, count),
                    List.of(open.take())));
        }
    }

    private void put(Page page) {
        pages.add(page);
        pageBytes += page.bytes();
    }

    /**
     * Gives a subscriber all that was committed after a time, oldest first.
     *
     * @throws MillraceException 72000 if not all of it is here any more
     */
    public synchronized void replay(String query, long afterMicros, LocalSubscription subscription) {
        if (!begun || afterMicros < completeAfterMicros) {
            throw MillraceException.user(
                            SqlState.SNAPSHOT_TOO_OLD, "what \"" + query + "\" changed since then is no longer kept")
                    .withHint("the newest " + (MOST_BYTES >> 20) + " MB of changes are, from the first subscription on;"
                            + " begin again WITH (SNAPSHOT)");
        }
        closePage();
        for (Page page : pages) {
            for (int i = 0; i < page.epochs.length; i++) {
                if (page.micros[i] > afterMicros) {
                    List<Batch> rows = rows(page, i);
                    try {
                        subscription.deliver(page.epochs[i], page.micros[i], rows, false);
                    } finally {
                        Closing.all(rows);
                    }
                }
            }
        }
    }

    /** Gives all that is here to a history that begins with it, if this one has begun. While nothing is added here. */
    public synchronized void copyTo(ChangeHistory other) {
        if (!begun) {
            return;
        }
        other.begin(completeAfterMicros);
        closePage();
        for (Page page : pages) {
            for (int i = 0; i < page.epochs.length; i++) {
                List<Batch> rows = rows(page, i);
                try {
                    other.add(page.epochs[i], page.micros[i], rows);
                } finally {
                    Closing.all(rows);
                }
            }
        }
    }

    /** The rows of a page's epoch. */
    private List<Batch> rows(Page page, int epoch) {
        if (page.epochs.length == 1) {
            page.rows.forEach(Batch::retain);
            return new ArrayList<>(page.rows);
        }
        int from = epoch == 0 ? 0 : page.ends[epoch - 1];
        int to = page.ends[epoch];
        try (RowBuffer copied = new RowBuffer(schema, to - from, allocator)) {
            copied.append(page.rows.get(0), Rows.all(to), from, to);
            return List.of(copied.take());
        }
    }

    private void clear() {
        Closing.all(pages);
        pages.clear();
        pageBytes = 0;
        open.close();
        openCount = 0;
        openBytes = 0;
    }

    @Override
    public synchronized void close() {
        begun = false;
        clear();
    }
}
