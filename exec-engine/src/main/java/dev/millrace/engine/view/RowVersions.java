package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows of a Z-set with the versions from and to which each is there: a reader at version {@code n} sees the rows with {@code
 * born <= n < died}. A change of a row's weight is a new row, and the end of the old one. Not safe by itself.
 *
 * <pre>
 *   stage (may run out of memory) -> stamp with a version nobody sees yet (cannot fail) -> the version is made current
 *     -> rows that died are removed when nobody reads as of an earlier version
 *     -> they are freed when no lookup is under way that may have found them
 *
 *   row: next | previous | hash, or next of the dead | born | died | weight | length, 4 bytes | unused, 4 bytes | bytes
 * </pre>
 *
 * Rows are in one list, in the order of their arrival. Those that are alive are found by their bytes; all that are not
 * reclaimed are in every {@link RowIndex}.
 */
final class RowVersions implements AutoCloseable {
    private static final int PREVIOUS = 8;
    private static final int HASH = 16;
    private static final int NEXT_DEAD = 16; // a row that died is not found by its bytes, and needs no hash
    private static final int BORN = 24;
    private static final int DIED = 32;
    private static final int WEIGHT = 40;
    private static final int LENGTH = 48;
    private static final int ROW = 56;
    private static final long ALIVE = Long.MAX_VALUE;
    private static final long GUESSED = 4; // times as many rows as are known of

    private final StateMemory memory;
    private final List<RowIndex> indexes = new ArrayList<>();
    private final List<RowCursor> cursors = new ArrayList<>();
    private final Lookups lookups;
    private final AddressTable living; // rows, by their bytes
    private final List<ArrowBuf> replacedSlots = new ArrayList<>(0); // of indexes, that lookups may still read
    private final List<ArrowBuf> unusedSlots = new ArrayList<>(0); // that nobody does
    private long
            removed; // rows that are in no index any more, while lookups may still read them; a list by the next of the
    // dead
    private long left; // the same, removed before the lookups were marked
    private long staged;
    private long first;
    private long last;
    private long firstDead; // in the order in which they died
    private long lastDead;
    private long deadBytes;
    private long roomFor; // rows that are restored
    private long touched; // what comes of words that were loaded ahead, which keeps the JIT from dropping the loads

    /** @param lookups that read rows without the lock under which all else is done */
    RowVersions(BufferAllocator allocator, Lookups lookups) {
        this.lookups = lookups;
        this.memory = new StateMemory(allocator);
        this.living = new AddressTable(allocator, node -> Memory.getLong(node + HASH), 4);
    }

    long size() {
        return living.count();
    }

    long bytes() {
        long sum = memory.bytes() + living.bytes() + capacity(replacedSlots) + capacity(unusedSlots);
        for (RowIndex index : indexes) {
            sum += index.bytes();
        }
        return sum;
    }

    private static long capacity(List<ArrowBuf> slots) {
        long sum = 0;
        for (int i = 0; i < slots.size(); i++) {
            sum += slots.get(i).capacity();
        }
        return sum;
    }

    /** Bytes of rows that died and wait for readers. */
    long deadBytes() {
        return deadBytes;
    }

    // ---- to stage --------------------------------------------------------------------------------------------------

    /**
     * Makes a row that is not there yet, with room for it wherever it has to be found.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that is seen
     */
    long stage(long row, int length, long weight) {
        reserve(staged + 1);
        long node = memory.allocate(ROW + length);
        Memory.putLong(node, 0);
        Memory.putLong(node + HASH, Hashing.finish(Hashing.bytes(row, length)));
        Memory.putLong(node + WEIGHT, weight);
        Memory.putInt(node + LENGTH, length);
        Memory.copy(row, node + ROW, length);
        staged++;
        return node;
    }

    /** A row that is not there yet, to be filled and then {@link #restore restored}; returns its node. */
    long begin(int length, long weight) {
        long node = memory.allocate(ROW + length);
        Memory.putLong(node + WEIGHT, weight);
        Memory.putInt(node + LENGTH, length);
        return node;
    }

    /**
     * Has filled rows be there from version 0 on, where nobody reads yet.
     *
     * @param toCome about how many more follow: room is made for at most a few times as many as are there
     */
    void restore(long[] nodes, int count, long toCome) {
        long most = living.count() + count;
        if (most > roomFor) {
            roomFor = Math.min(most + toCome, GUESSED * most);
            reserve(roomFor - living.count());
        }
        AddressTable.Words words = living.words();
        long loaded = 0;
        for (int i = 0; i < count; i++) {
            long hash = Hashing.finish(Hashing.bytes(nodes[i] + ROW, Memory.getInt(nodes[i] + LENGTH)));
            Memory.putLong(nodes[i] + HASH, hash);
            loaded += words.word(words.first(hash)); // a loop of its own: these wait for memory together
        }
        touched = loaded;
        for (int i = 0; i < count; i++) {
            staged++;
            stamp(nodes[i], 0);
        }
    }

    /** The row that was staged after a row that is staged, or 0. */
    static long stagedNext(long node) {
        return Memory.getLong(node);
    }

    static void setStagedNext(long node, long next) {
        Memory.putLong(node, next);
    }

    /** Frees a row that was staged. */
    void discard(long node) {
        staged--;
        free(node);
    }

    private void reserve(long more) {
        living.reserve(more);
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).reserve(more);
        }
    }

    // ---- to stamp --------------------------------------------------------------------------------------------------

    /** Has a staged row take effect from a version on, which is greater than all that are seen. Asks for no memory. */
    void stamp(long node, long version) {
        staged--;
        long hash = Memory.getLong(node + HASH);
        long before = find(node, hash);
        if (before == 0) {
            if (Memory.getLong(node + WEIGHT) == 0) {
                free(node);
                return;
            }
            link(node, last);
            begin(node, version);
            living.add(node, hash);
            return;
        }
        long sum = Memory.getLong(before + WEIGHT) + Memory.getLong(node + WEIGHT);
        if (Memory.getLong(before + BORN) == version) { // nobody sees it yet
            free(node);
            if (sum == 0) {
                living.remove(before, hash);
                remove(before);
            } else {
                Memory.putLong(before + WEIGHT, sum);
            }
        } else if (sum == 0) {
            free(node);
            living.remove(before, hash);
            end(before, version);
        } else {
            Memory.putLong(node + WEIGHT, sum);
            link(node, before);
            begin(node, version);
            living.replace(before, node, hash);
            end(before, version);
        }
    }

    private void begin(long node, long version) {
        Memory.putLong(node + BORN, version);
        Memory.putLong(node + DIED, ALIVE);
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).add(node + ROW);
        }
    }

    private void end(long node, long version) {
        Memory.putLong(node + DIED, version);
        Memory.putLong(node + NEXT_DEAD, 0);
        if (lastDead == 0) {
            firstDead = node;
        } else {
            Memory.putLong(lastDead + NEXT_DEAD, node);
        }
        lastDead = node;
        deadBytes += ROW + Memory.getInt(node + LENGTH);
    }

    /** The living row with the same bytes, or 0. */
    private long find(long node, long hash) {
        int length = Memory.getInt(node + LENGTH);
        AddressTable.Words words = living.words();
        long slot = words.first(hash);
        for (long word = words.word(slot); word != AddressTable.FREE; word = words.word(slot)) {
            if (AddressTable.Words.mayBe(word, hash)) {
                long other = word & AddressTable.ADDRESS;
                if (Memory.getLong(other + HASH) == hash
                        && Memory.getInt(other + LENGTH) == length
                        && Memory.equal(other + ROW, node + ROW, length)) {
                    return other;
                }
            }
            slot = words.next(slot);
        }
        return 0;
    }

    /** Puts a row behind another, or first behind 0. */
    private void link(long node, long previous) {
        long next = previous == 0 ? first : Memory.getLong(previous);
        Memory.putLong(node, next);
        Memory.putLong(node + PREVIOUS, previous);
        if (previous == 0) {
            first = node;
        } else {
            Memory.putLong(previous, node);
        }
        if (next == 0) {
            last = node;
        } else {
            Memory.putLong(next + PREVIOUS, node);
        }
    }

    private void remove(long node) {
        long next = Memory.getLong(node);
        long previous = Memory.getLong(node + PREVIOUS);
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).remove(node + ROW);
        }
        for (int i = 0; i < cursors.size(); i++) {
            cursors.get(i).leaving(node, next);
        }
        if (previous == 0) {
            first = next;
        } else {
            Memory.putLong(previous, next);
        }
        if (next == 0) {
            last = previous;
        } else {
            Memory.putLong(next + PREVIOUS, previous);
        }
        if (lookups.isOpen()) {
            Memory.putLong(node + NEXT_DEAD, removed);
            removed = node;
        } else {
            free(node);
        }
    }

    private void free(long node) {
        memory.free(node, ROW + Memory.getInt(node + LENGTH));
    }

    // ---- to reclaim ------------------------------------------------------------------------------------------------

    /**
     * Removes some of the rows that died at a version or before, which nobody sees.
     *
     * @return whether there are more
     */
    boolean reclaim(long version, int most) {
        for (int more = most; firstDead != 0 && Memory.getLong(firstDead + DIED) <= version; more--) {
            if (more == 0) {
                return true;
            }
            long node = firstDead;
            firstDead = Memory.getLong(node + NEXT_DEAD);
            if (firstDead == 0) {
                lastDead = 0;
            }
            deadBytes -= ROW + Memory.getInt(node + LENGTH);
            remove(node);
        }
        return false;
    }

    /**
     * Frees some of what was removed, once those who look up without the lock have gone on from there; what they have not is
     * left to the next call.
     *
     * @return whether more can be freed now
     */
    boolean freeRemoved(int most) {
        if (left == 0 && replacedSlots.isEmpty()) {
            left = removed;
            removed = 0;
            for (int i = 0; i < indexes.size(); i++) {
                if (indexes.get(i) instanceof HashIndex index) {
                    replacedSlots.addAll(index.takeReplaced());
                }
            }
            if (left == 0 && replacedSlots.isEmpty()) {
                return false;
            }
            lookups.mark();
        }
        if (!lookups.haveEnded()) {
            return false;
        }
        unusedSlots.addAll(replacedSlots);
        replacedSlots.clear();
        for (int i = 0; i < most && left != 0; i++) {
            long node = left;
            left = Memory.getLong(node + NEXT_DEAD);
            free(node);
        }
        return left != 0 || removed != 0;
    }

    /** Memory that nobody needs any more, for the caller to close: not with the lock held, since that may take long. */
    List<ArrowBuf> takeUnused() {
        unusedSlots.addAll(living.takeReplaced());
        if (unusedSlots.isEmpty()) {
            return List.of();
        }
        List<ArrowBuf> taken = List.copyOf(unusedSlots);
        unusedSlots.clear();
        return taken;
    }

    // ---- to read ---------------------------------------------------------------------------------------------------

    static long next(long node) {
        return Memory.getLong(node);
    }

    static long row(long node) {
        return node + ROW;
    }

    static boolean isSeenAt(long row, long version) {
        return Memory.getLong(row - ROW + BORN) <= version && version < Memory.getLong(row - ROW + DIED);
    }

    static long weight(long row) {
        return Memory.getLong(row - ROW + WEIGHT);
    }

    static int length(long row) {
        return Memory.getInt(row - ROW + LENGTH);
    }

    /** Has a cursor begin with the first row of all versions, and be told of the rows that go. */
    long open(RowCursor cursor) {
        cursors.add(cursor);
        cursor.goOnAt(first);
        return first;
    }

    void remove(RowCursor cursor) {
        cursors.remove(cursor);
    }

    // ---- indexes ---------------------------------------------------------------------------------------------------

    /**
     * Has an index be told of all rows that come and go from now on.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed
     */
    void add(RowIndex index) {
        index.reserve(staged);
        indexes.add(index);
    }

    /**
     * Adds some rows from a node on to an index that is told of what comes and goes; returns where to go on, 0 at the end.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException for an index that is of no use any more
     */
    long addTo(RowIndex index, long node, int most) {
        index.reserve(staged + most);
        long[] added = new long[most];
        int count = 0;
        long next = node;
        for (; next != 0 && count < most; count++) {
            added[count] = row(next);
            next = next(next);
        }
        index.addAll(added, count);
        return next;
    }

    boolean has(RowIndex index) {
        return indexes.contains(index);
    }

    /** Has an index not be told any more, and closes it. */
    void remove(RowIndex index) {
        if (indexes.remove(index)) {
            index.close();
        }
    }

    /** How many rows are written or looked at while others wait: fewer where each has to be put in order. */
    int together(int most) {
        for (int i = 0; i < indexes.size(); i++) {
            if (indexes.get(i) instanceof OrderedIndex) {
                return most / 4;
            }
        }
        return most;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(indexes);
        all.addAll(replacedSlots);
        all.addAll(unusedSlots);
        all.add(living);
        all.add(memory);
        indexes.clear();
        replacedSlots.clear();
        unusedSlots.clear();
        removed = 0;
        left = 0;
        first = 0;
        last = 0;
        firstDead = 0;
        lastDead = 0;
        Closing.all(all);
    }
}
