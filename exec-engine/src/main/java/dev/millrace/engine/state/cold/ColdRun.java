package dev.millrace.engine.state.cold;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.memory.Memory;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Entries in the order of their places, each written once. Of each there is in memory a tag of two bytes, and of some eight neighbours half
 * a word that says where they begin: who looks for a hash that is not here reads, but for one in some thousand times, nothing of the entries.
 *
 * <pre>
 *   record: hash | words of the body            long texts are blocks of the run's own
 *   tag:    low 16 bits of the hash, 1 for 0;   0 once the entry is here no more
 *   starts: per bucket the position of its first record; bucket = (place - first place) &gt;&gt;&gt; shift
 * </pre>
 *
 * A place is a number that follows from the hash, key groups first.
 */
final class ColdRun implements AutoCloseable {
    /** A record's body, behind its hash. */
    static final int BODY = 8;

    private static final int PER_BUCKET = 8;
    private static final int RECORD_CHUNK_BYTES = 1 << 20;
    private static final int TAG_CHUNK_BYTES = 256 << 10;

    private final int bodyBytes;
    private final int[] byteSlots;
    private final long first;
    private final long last;
    private final int shift;
    private final int buckets;
    private final long textBytes;
    private final ColdPages records;
    private final ColdPages texts;
    private final ColdPages tags;
    private final ColdPages starts;
    private int begun; // buckets
    private int count;
    private int live;
    private int dueFrom = Integer.MAX_VALUE; // of a frozen run: the first that is not written yet
    private boolean isOfPending; // only entries that changed are due
    private ColdMarks since; // entries that changed since they were frozen last
    private ColdMarks pending; // and those that were frozen, and may have to be once more

    /**
     * @param onDisk for records, {@code inMemory} for what finds them
     * @param byteSlots where in a body slots of texts are
     * @param first the least place, {@code last} the greatest
     * @param most how many entries are appended at most
     * @param textBytes of their long texts, with headers, at most
     */
    ColdRun(
            BufferAllocator onDisk,
            BufferAllocator inMemory,
            int bodyBytes,
            int[] byteSlots,
            long first,
            long last,
            int most,
            long textBytes) {
        this.bodyBytes = bodyBytes;
        this.byteSlots = byteSlots;
        this.first = first;
        this.last = last;
        this.textBytes = textBytes;
        long wanted = Math.max(1, most / PER_BUCKET);
        this.shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros((last - first) / wanted));
        this.buckets = (int) (last - first >>> shift) + 1;
        this.records = new ColdPages(onDisk, BODY + bodyBytes, RECORD_CHUNK_BYTES, most);
        this.texts = new ColdPages(onDisk, 8, RECORD_CHUNK_BYTES, textBytes / 8);
        this.tags = new ColdPages(inMemory, Short.BYTES, TAG_CHUNK_BYTES, most);
        this.starts = new ColdPages(inMemory, Integer.BYTES, TAG_CHUNK_BYTES, buckets + 1L);
        this.since = new ColdMarks(inMemory, most);
        this.pending = new ColdMarks(inMemory, most);
    }

    /** Bytes on disk of a text, with its header. */
    static long textBytes(int length) {
        return ByteSlots.blockBytes(length) + 7L & -8;
    }

    // ---- writing

    /** Adds an entry whose place is not before that of the last one; {@link #seal} follows all. */
    void append(long hash, long place, long body) {
        int bucket = (int) (place - first >>> shift);
        while (begun <= bucket) {
            Memory.putInt(starts.add(), count);
            begun++;
        }
        long record = records.add();
        Memory.putLong(record, hash);
        Memory.copy(body, record + BODY, bodyBytes);
        for (int slot : byteSlots) {
            if (ByteSlots.isLong(body + slot)) {
                int length = ByteSlots.length(body + slot);
                long block = texts.add((int) (textBytes(length) / 8));
                ByteSlots.storeIn(block, record + BODY + slot, ByteSlots.address(body + slot), length);
            }
        }
        Memory.putShort(tags.add(), tag(hash));
        count++;
        live++;
    }

    void seal() {
        while (begun <= buckets) {
            Memory.putInt(starts.add(), count);
            begun++;
        }
    }

    // ---- reading

    private static short tag(long hash) {
        return (short) hash == 0 ? 1 : (short) hash;
    }

    /** The position of an entry with this hash, or -1. */
    int find(long hash, long place) {
        if (place < first || place > last) {
            return -1;
        }
        int bucket = (int) (place - first >>> shift);
        int end = start(bucket + 1);
        short tag = tag(hash);
        for (int i = start(bucket); i < end; i++) {
            if (Memory.getShort(tags.at(i)) == tag && Memory.getLong(records.at(i)) == hash) {
                return i;
            }
        }
        return -1;
    }

    private int start(int bucket) {
        return Memory.getInt(starts.at(bucket));
    }

    /** The position of the first entry whose place is not before this one. */
    int from(long place, ColdPlaces places) {
        if (place <= first) {
            return 0;
        }
        if (place > last) {
            return count;
        }
        int i = start((int) (place - first >>> shift));
        while (i < count && places.of(hash(i)) < place) {
            i++;
        }
        return i;
    }

    boolean isLive(int i) {
        return Memory.getShort(tags.at(i)) != 0;
    }

    long hash(int i) {
        return Memory.getLong(records.at(i));
    }

    /** The words of an entry; they stay where they are. */
    long body(int i) {
        return records.at(i) + BODY;
    }

    /** Has an entry be here no more. */
    void drop(int i) {
        Memory.putShort(tags.at(i), (short) 0);
        live--;
    }

    // ---- what of it changed

    /** Sets marks of an entry, as {@link ChangedEntries#take} has them. */
    void mark(int i, int marks) {
        if ((marks & ChangedEntries.SINCE) != 0) {
            since.set(i);
        }
        if ((marks & ChangedEntries.PENDING) != 0) {
            pending.set(i);
        }
    }

    int marks(int i) {
        return (since.get(i) ? ChangedEntries.SINCE : 0) | (pending.get(i) ? ChangedEntries.PENDING : 0);
    }

    /** Takes all marks away, or those of entries that need not be written again. */
    void unmark(boolean alsoSince) {
        pending.clear();
        if (alsoSince) {
            since.clear();
        }
    }

    /** It is frozen: what changed since it was last is to be written. */
    void movePending() {
        if (pending.size() == 0) {
            ColdMarks none = pending;
            pending = since;
            since = none;
        } else {
            pending.addAll(since);
        }
        since.clear();
    }

    /** How many entries are pending, some of which may not be here any more. */
    int pending() {
        return pending.size();
    }

    // ---- while it is written

    /** Has all entries be due, or those that changed: to be written, by {@link FrozenRuns} or when they leave. */
    void freeze(boolean onlyPending) {
        dueFrom = 0;
        isOfPending = onlyPending;
    }

    /** The first entry that is due still, if {@link #isDue}. */
    int dueFrom() {
        return dueFrom;
    }

    /** Says that the entries before this one were written. */
    void written(int end) {
        dueFrom = end;
    }

    /** Says that nobody writes it any more. */
    void thaw() {
        dueFrom = Integer.MAX_VALUE;
    }

    boolean isDue(int i) {
        return i >= dueFrom && (!isOfPending || pending.get(i));
    }

    /** Whether there are entries that are due. */
    boolean isDue() {
        return dueFrom < count;
    }

    // ---- what is known of it

    long first() {
        return first;
    }

    long last() {
        return last;
    }

    /** How many entries were written. */
    int count() {
        return count;
    }

    /** How many of them are here still. */
    int live() {
        return live;
    }

    /** Bytes of long texts, at most. */
    long textBytes() {
        return textBytes;
    }

    @Override
    public void close() {
        thaw();
        Closing.all(List.of(records, texts, tags, starts, since, pending));
    }
}
