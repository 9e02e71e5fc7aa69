package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A hash table from keys to entries of fixed size. It knows where entries are and what their hashes are; keys are compared
 * by whoever probes, which is generated code over the fields of {@link #indexAddress}, {@link #shift} and {@link #mask}:
 *
 * <pre>
 *   slot = hash &lt;&lt; KeyGroups.BITS &gt;&gt;&gt; shift   the bits below those that chose this instance
 *   word = index[slot]                         0: absent, insert(hash, slot)
 *   word = tag (hash's low 16 bits) &lt;&lt; 48 | address of the entry; on a mismatch go on with (slot + 1) &amp; mask
 *
 *   entry: hash | link | key and state words   link: free for the owner's use, 0 at first
 * </pre>
 *
 * Entries never move.
 */
public final class GroupTable implements AutoCloseable {
    /** Where an entry's link is. */
    public static final int LINK = 8;

    /** Where an entry's keys and state begin. */
    public static final int BODY = 16;

    /** The link of an entry that {@link #removeGone} removes. */
    public static final long GONE = -1;

    /** The address in an index word. */
    public static final long ADDRESS = EntryIndex.ADDRESS;

    /** The mask of an index from which on it is not in the nearest cache: then a batch's words are loaded ahead. */
    public static final int FAR = 1 << 14;

    /** Slots that are gone over in their order: enough for the processor to fetch them ahead. */
    private static final int STRETCH_BITS = 7;

    private static final int FILLED_TOGETHER = 512;
    private static final int FIRST_FILLED = 32; // a part of a key group may be small

    /** 2^64 times (sqrt(5) - 1) / 2. */
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    private final StateMemory memory;
    private final long[] initial; // the words of a new entry's body
    private final int entryBytes;
    private final EntryIndex index;
    private long touched;
    private LongPredicate far = hash -> false;

    /** A table whose entries' bodies begin as {@code initial}. */
    public GroupTable(BufferAllocator allocator, long[] initial) {
        this.memory = new StateMemory(allocator);
        this.index = new EntryIndex(allocator, memory, 0);
        this.initial = initial.clone();
        this.entryBytes = BODY + 8 * initial.length;
        index.open();
    }

    public long indexAddress() {
        return index.address();
    }

    public int shift() {
        return index.shift();
    }

    public long mask() {
        return index.mask();
    }

    /** Takes what comes of words that were loaded ahead, which keeps the JIT from dropping the loads. */
    public void touched(long words) {
        touched = words;
    }

    /** How many entries there are. */
    public int size() {
        return index.size();
    }

    /** Where what entries point to is kept; freed with the table or by {@link #clear}. */
    public StateMemory memory() {
        return memory;
    }

    public long bytes() {
        return memory.bytes() + index.bytes();
    }

    /** Bytes of an entry. */
    public int entryBytes() {
        return entryBytes;
    }

    /**
     * Has entries that are not found be looked for elsewhere, too, on the table's thread.
     *
     * @param where brings all entries of a hash into the table, and says whether there were any
     */
    public void lookFurther(LongPredicate where) {
        far = where;
    }

    /**
     * Brings the entries of a hash whose key was not found, if they are elsewhere. The index may be another one afterwards.
     *
     * @return whether there were any: then the key is looked for once more, from its first slot on
     */
    public boolean fetch(long hash) {
        return far.test(hash);
    }

    /** The index word of a slot. */
    public long word(long slot) {
        return index.word(slot);
    }

    /**
     * A new entry at a slot found empty while probing for {@code hash}. The index may be another one afterwards: its
     * address, shift and mask are to be read again.
     */
    public long insert(long hash, long slot) {
        long entry = newEntry(hash);
        index.put(slot, hash, entry);
        return entry;
    }

    /** A new entry that is not found yet: {@link #put} or {@link #putAll} follows, before anything else that probes. */
    public long newEntry(long hash) {
        long entry = memory.allocate(entryBytes);
        Memory.putLong(entry, hash);
        Memory.putLong(entry + LINK, 0);
        long body = entry + BODY;
        for (int word = 0; word < initial.length; word++) {
            Memory.putLong(body + 8L * word, initial[word]);
        }
        return entry;
    }

    /** Frees the block of a new entry that nobody is to find. */
    public void discard(long entry) {
        memory.free(entry, entryBytes);
    }

    /** A new entry for a hash whose key is known to be absent. */
    public long insertNew(long hash) {
        return insert(hash, index.freeSlot(hash));
    }

    /** Has a {@link #newEntry new entry} be found, whose key is known to be absent. */
    public void put(long entry) {
        long hash = Memory.getLong(entry);
        index.put(index.freeSlot(hash), hash, entry);
    }

    /**
     * Has new entries be found, whose keys are known to be absent.
     *
     * @param toCome about how many more follow
     */
    public void putAll(long[] entries, int count, long toCome) {
        index.reserve(count + toCome, count);
        index.putAll(entries, count);
    }

    /** Removes an entry and frees its block, but nothing it points to. */
    public void remove(long entry) {
        index.remove(entry);
        memory.free(entry, entryBytes);
    }

    /** The entries that are at home in one of 2^{@code bits} equal parts of the index; so many slots it has at least. */
    public long[] entriesOf(int part, int bits) {
        return index.entriesOf(part, bits);
    }

    /** Removes those of a part's entries whose link is {@link #GONE} and frees their blocks, but nothing they point to. */
    public void removeGone(int part, int bits) {
        index.remove(part, bits, entry -> {
            boolean isGone = Memory.getLong(entry + LINK) == GONE;
            if (isGone) {
                memory.free(entry, entryBytes);
            }
            return isGone;
        });
    }

    /** Removes all entries and what they point to; keeps the memory for reuse. */
    public void clear() {
        index.clear();
        memory.reset();
    }

    /**
     * Copies addresses of entries, scattered: stretches of the index in strides of a golden section of it. Entries in the
     * order of their hashes would fill a smaller table from one end, where each would be put behind all others.
     *
     * @param from where to begin; 0 first
     * @return where to go on from, or -1 at the end
     */
    public long entries(long from, long[] addresses, int[] count) {
        long mask = index.mask();
        long stretch = Math.min(1L << STRETCH_BITS, mask + 1);
        long stride = (GOLDEN_SECTION >>> index.shift() | stretch) & -stretch; // an odd number of stretches
        long position = from;
        int found = 0;
        while (position <= mask && found < addresses.length) {
            long slot = (position >>> STRETCH_BITS) * stride + (position & stretch - 1) & mask;
            int most = (int) Math.min(stretch - (position & stretch - 1), addresses.length - found);
            long address = index.address() + (slot << 3);
            for (int i = 0; i < most; i++) {
                long word = Memory.getLong(address + 8L * i);
                addresses[found] = word & ADDRESS;
                found += word == 0 ? 0 : 1; // no branch: occupied slots are random
            }
            position += most;
        }
        count[0] = found;
        return position > mask ? -1 : position;
    }

    /**
     * Entries of one key group on their way from a checkpoint into the table: put there many at a time, which waits less for memory, with
     * room for those that are likely to follow. One thread.
     *
     * @param in where the entries come from, from their first byte on
     */
    public Filling fill(DataInput in) throws IOException {
        return new Filling(in);
    }

    /** See {@link #fill}. */
    public final class Filling {
        private final DataInput in;
        private final long bytesBefore;
        private long[] entries = new long[FIRST_FILLED];
        private int count;
        private long put;

        private Filling(DataInput in) throws IOException {
            this.in = in;
            this.bytesBefore = SectionInput.bytesAhead(in);
        }

        /** Takes a {@link #newEntry new entry}; nobody finds it before {@link #end}. */
        public void add(long entry) throws IOException {
            if (count == FILLED_TOGETHER) {
                end();
            } else if (count == entries.length) {
                entries = Arrays.copyOf(entries, 2 * count);
            }
            entries[count++] = entry;
        }

        /** Has all be found that were taken. */
        public void end() throws IOException {
            long ahead = SectionInput.bytesAhead(in);
            long bytesOfEach = Math.max(1, (bytesBefore - ahead) / Math.max(1, put + count));
            putAll(entries, count, ahead / bytesOfEach);
            put += count;
            count = 0;
        }
    }

    @Override
    public void close() {
        Closing.all(List.of(index, memory));
    }
}
