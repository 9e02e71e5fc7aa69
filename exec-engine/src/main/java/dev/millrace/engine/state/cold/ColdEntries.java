package dev.millrace.engine.state.cold;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.EntryWatch;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.ChunkSource;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.operator.FrozenState;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The entries of a table that are on disk because memory is short. An entry is in the table or here. Parts of the table leave it in turn, each
 * as a run that is sorted and written in one go; a hash that is not found in the table is looked for here, and what is
 * found moves back. So what is on disk is written in order, never changed, and read only where a key comes that is there.
 *
 * <pre>
 *   table, changed in place  --relieve(), a part at a time--&gt;  runs of that part, four of a size are merged into one
 *                            &lt;--fetch(hash), one entry-------
 * </pre>
 *
 * (O'Neil et al., The log-structured merge-tree, Acta Informatica 1996; DeBrabant et al., Anti-caching, VLDB 2013.) Entries that are linked
 * stay in the table. One thread, the table's.
 */
public final class ColdEntries implements AutoCloseable {
    /** What a table keeps in any case. */
    static final long LEAST_BYTES = 1 << 20;

    private static final long PART_BYTES = 1 << 20;
    private static final int MOST_BITS = 8;
    private static final int INDEX_BITS = 24;
    private static final int LOOKED_EVERY_PART = 8; // of the table more
    private static final int LOOKED_EVERY_BYTES = 256 << 10; // of new entries
    private static final int FAN = 4;
    private static final int MOST_RUNS = 12;
    private static final int MOST_IN_RUN = 1 << 30;

    private final GroupTable table;
    private final int bodyBytes;
    private final int lookedEvery; // entries
    private final int[] byteSlots; // in bodies
    private final ChunkSource source;
    private final BufferAllocator inMemory;
    private final BufferAllocator onDisk;
    private final List<List<ColdRun>> parts = new ArrayList<>();
    private ColdPlaces places = new ColdPlaces(0);
    private int nextPart;
    private long size;
    private long mostInTable = Long.MAX_VALUE;
    private long settledBytes; // of the table, when this was found
    private long nextLook; // entries in the table
    private int tries; // parts that were looked at in this epoch
    private Optional<ChangedEntries> changes =
            Optional.empty(); // is told of entries before they leave the table, and once they came

    /** @param byteSlots where in an entry slots of texts are; else it points to nothing */
    public ColdEntries(GroupTable table, int[] byteSlots, BufferAllocator allocator) {
        this.table = table;
        this.bodyBytes = table.entryBytes() - GroupTable.BODY;
        this.byteSlots =
                Arrays.stream(byteSlots).map(slot -> slot - GroupTable.BODY).toArray();
        this.lookedEvery = Math.max(1, LOOKED_EVERY_BYTES / table.entryBytes());
        this.nextLook = lookedEvery;
        this.source = PooledAllocation.source(allocator);
        this.inMemory = allocator;
        this.onDisk = allocator.newChildAllocator(ChunkSource.ON_DISK, 0, Long.MAX_VALUE);
        table.lookFurther(this::fetch);
    }

    /** Has this be told of entries before they leave the table, and once they came; before it is frozen first. */
    public void tell(ChangedEntries whom) {
        changes = Optional.of(whom);
        whom.lookFurther(new ChangedEntries.Further() {
            @Override
            public boolean isKnown() {
                return true; // as the table does
            }

            @Override
            public void unmark(boolean all) {
                parts.forEach(runs -> runs.forEach(run -> run.unmark(all)));
            }

            @Override
            public void movePending() {
                parts.forEach(runs -> runs.forEach(ColdRun::movePending));
            }

            @Override
            public long pending() {
                long pending = 0;
                for (List<ColdRun> runs : parts) {
                    for (ColdRun run : runs) {
                        pending += run.pending();
                    }
                }
                return pending;
            }
        });
    }

    /** How many entries are here. */
    public long size() {
        return size;
    }

    // ---- out of the table

    /** Between batches: if memory is short, what is more in the table than there was then moves here, but for what is linked. */
    public void relieve() {
        if (table.size() >= nextLook) {
            relieveNow();
        }
    }

    /** The same at the end of an epoch, when nothing is linked any more. */
    public void relieveUnlinked() {
        tries = 0;
        if (table.size() > mostInTable || table.size() >= nextLook) {
            relieveNow();
        }
    }

    private void relieveNow() {
        long allowed = source.allowance(inMemory);
        if (allowed == Long.MAX_VALUE) {
            mostInTable = Long.MAX_VALUE;
        } else if (mostInTable == Long.MAX_VALUE) {
            begin(Math.max(LEAST_BYTES, allowed));
        } else if (table.bytes() > settledBytes + settledBytes / 8) { // rows of one epoch, or longer texts
            long least = Math.max(LEAST_BYTES, allowed) / table.entryBytes();
            mostInTable = Math.min(mostInTable, Math.max(least, mostInTable - mostInTable / 8));
            settledBytes = table.bytes();
        }
        while (table.size() > mostInTable && tries < parts.size()) { // once in an epoch: what is linked then stays so
            evict(nextPart);
            nextPart = (nextPart + 1) % parts.size();
            tries++;
        }
        nextLook = table.size() + Math.max(lookedEvery, table.size() / LOOKED_EVERY_PART);
    }

    private void begin(long allowed) {
        if (table.bytes() < allowed) {
            return;
        }
        mostInTable = table.size();
        settledBytes = table.bytes();
        if (parts.isEmpty()) {
            long bytes = (long) table.size() * (ColdRun.BODY + bodyBytes);
            int bits =
                    Math.min(MOST_BITS, Math.max(0, 63 - Long.numberOfLeadingZeros(Math.max(1, bytes / PART_BYTES))));
            places = new ColdPlaces(bits);
            for (int part = 0; part < 1 << bits; part++) {
                parts.add(new ArrayList<>());
            }
        }
    }

    private void evict(int part) {
        long[] entries = table.entriesOf(part, places.bits());
        long[] order = new long[entries.length];
        int count = 0;
        long textBytes = 0;
        for (int i = 0; i < entries.length && count < 1 << INDEX_BITS; i++) {
            long entry = entries[i];
            if (Memory.getLong(entry + GroupTable.LINK) == 0) {
                entries[count] = entry;
                order[count] = places.of(Memory.getLong(entry)) << INDEX_BITS | count;
                count++;
                textBytes += textBytes(entry + GroupTable.BODY);
            }
        }
        if (count == 0) {
            return;
        }
        Arrays.sort(order, 0, count);
        ColdRun run = newRun(order[0] >>> INDEX_BITS, order[count - 1] >>> INDEX_BITS, count, textBytes);
        boolean done = false;
        try {
            for (int i = 0; i < count; i++) {
                Interrupt.checkSometimes(i);
                long entry = entries[(int) order[i] & (1 << INDEX_BITS) - 1];
                run.append(Memory.getLong(entry), order[i] >>> INDEX_BITS, entry + GroupTable.BODY);
            }
            run.seal();
            done = true;
        } finally {
            if (!done) {
                run.close();
            }
        }
        parts.get(part).add(run);
        size += count;
        for (int i = 0; i < count; i++) {
            long entry = entries[(int) order[i] & (1 << INDEX_BITS) - 1];
            if (changes.isPresent()) {
                run.mark(i, changes.get().take(entry));
            }
            for (int slot : byteSlots) {
                ByteSlots.free(table.memory(), entry + GroupTable.BODY + slot);
            }
            Memory.putLong(entry + GroupTable.LINK, GroupTable.GONE);
        }
        table.removeGone(part, places.bits());
        compact(parts.get(part));
    }

    private long textBytes(long body) {
        long bytes = 0;
        for (int slot : byteSlots) {
            bytes += ByteSlots.isLong(body + slot) ? ColdRun.textBytes(ByteSlots.length(body + slot)) : 0;
        }
        return bytes;
    }

    private ColdRun newRun(long first, long last, int count, long textBytes) {
        return new ColdRun(onDisk, inMemory, bodyBytes, byteSlots, first, last, count, textBytes);
    }

    // ---- runs

    /**
     * Merges the newest runs while there are four of about a size; all, when more than half is there no more. Runs that are being written
     * to a checkpoint, and those beside them, wait for that.
     */
    private void compact(List<ColdRun> runs) {
        long written = 0;
        long live = 0;
        for (ColdRun run : runs) {
            if (run.isDue()) {
                return;
            }
            written += run.count();
            live += run.live();
        }
        if (live < written / 2 && live < MOST_IN_RUN) {
            merge(runs, 0);
        }
        while (runs.size() >= FAN) {
            int from = runs.size() - FAN;
            long largest = 0;
            long sum = 0;
            for (ColdRun run : runs.subList(from, runs.size())) {
                largest = Math.max(largest, run.live());
                sum += run.live();
            }
            boolean areAlike = largest <= 2L * runs.get(runs.size() - 1).live();
            if (sum >= MOST_IN_RUN || !areAlike && runs.size() < MOST_RUNS) {
                return;
            }
            merge(runs, from);
        }
    }

    private void merge(List<ColdRun> runs, int from) {
        List<ColdRun> merged = runs.subList(from, runs.size());
        long first = Long.MAX_VALUE;
        long last = 0;
        int count = 0;
        long textBytes = 0;
        for (ColdRun run : merged) {
            first = Math.min(first, run.first());
            last = Math.max(last, run.last());
            count += run.live();
            textBytes += run.textBytes();
        }
        List<ColdRun> old = List.copyOf(merged);
        List<ColdRun> made = count == 0 ? List.of() : List.of(merged(old, newRun(first, last, count, textBytes)));
        merged.clear();
        runs.addAll(made);
        Closing.all(old);
    }

    private ColdRun merged(List<ColdRun> sources, ColdRun into) {
        int[] at = new int[sources.size()];
        long[] heads = new long[sources.size()]; // the places of who is next, the greatest number at the end
        boolean done = false;
        try {
            for (int source = 0; source < at.length; source++) {
                heads[source] = head(sources.get(source), at, source);
            }
            for (int step = 0; ; step++) {
                Interrupt.checkSometimes(step);
                int least = 0;
                for (int source = 1; source < heads.length; source++) {
                    least = heads[source] < heads[least] ? source : least;
                }
                if (heads[least] == Long.MAX_VALUE) {
                    break;
                }
                ColdRun run = sources.get(least);
                into.append(run.hash(at[least]), heads[least], run.body(at[least]));
                into.mark(into.count() - 1, run.marks(at[least]));
                at[least]++;
                heads[least] = head(run, at, least);
            }
            into.seal();
            done = true;
            return into;
        } finally {
            if (!done) {
                into.close();
            }
        }
    }

    private long head(ColdRun run, int[] at, int source) {
        while (at[source] < run.count() && !run.isLive(at[source])) {
            at[source]++;
        }
        return at[source] < run.count() ? places.of(run.hash(at[source])) : Long.MAX_VALUE;
    }

    // ---- into the table

    /** Brings all entries of a hash into the table; whether there were any. */
    private boolean fetch(long hash) {
        if (size == 0) {
            return false;
        }
        List<ColdRun> runs = parts.get(places.part(hash));
        long place = places.of(hash);
        boolean found = false;
        for (int r = runs.size() - 1; r >= 0; r--) {
            ColdRun run = runs.get(r);
            for (int i = run.find(hash, place); i >= 0; i = run.find(hash, place)) {
                bring(run, i);
                found = true;
            }
        }
        return found;
    }

    private void bring(ColdRun run, int i) {
        long entry = table.newEntry(run.hash(i));
        long body = entry + GroupTable.BODY;
        Memory.copy(run.body(i), body, bodyBytes);
        for (int slot : byteSlots) {
            if (ByteSlots.isLong(body + slot)) { // the run's
                ByteSlots.store(
                        table.memory(), body + slot, ByteSlots.address(body + slot), ByteSlots.length(body + slot));
            }
        }
        table.put(entry);
        run.drop(i);
        size--;
        if (changes.isPresent()) {
            changes.get().arrived(entry, run.marks(i), run.isDue(i));
        }
    }

    /** Brings all into the table, however large it becomes: for who goes over all of them. */
    public void fetchAll() {
        for (List<ColdRun> runs : parts) {
            for (ColdRun run : runs) {
                for (int i = 0; i < run.count(); i++) {
                    Interrupt.checkSometimes(i);
                    if (run.isLive(i)) {
                        bring(run, i);
                    }
                }
            }
            List<ColdRun> empty = List.copyOf(runs);
            runs.clear();
            Closing.all(empty);
        }
        nextLook = 0;
    }

    // ---- for a snapshot

    /** Takes entries of a key group. */
    @FunctionalInterface
    public interface Visitor<X extends Exception> {
        /**
         * @param entry where the entry would begin for its body to be where it is; what is before that is not there
         */
        void visit(long hash, long entry) throws X;
    }

    /** How many entries of a key group are here. */
    public int count(int group) {
        long count = 0;
        for (List<ColdRun> runs : parts) {
            for (ColdRun run : runs) {
                int end = run.from(ColdPlaces.firstOf(group + 1), places);
                for (int i = run.from(ColdPlaces.firstOf(group), places); i < end; i++) {
                    count += run.isLive(i) ? 1 : 0;
                }
            }
        }
        return Math.toIntExact(count);
    }

    /** All entries of a key group, in the order in which they are on disk. */
    public <X extends Exception> void each(int group, Visitor<X> visitor) throws X {
        for (List<ColdRun> runs : parts) {
            for (ColdRun run : runs) {
                int end = run.from(ColdPlaces.firstOf(group + 1), places);
                for (int i = run.from(ColdPlaces.firstOf(group), places); i < end; i++) {
                    if (run.isLive(i)) {
                        visitor.visit(run.hash(i), run.body(i) - GroupTable.BODY);
                    }
                }
            }
        }
    }

    /** Writes an entry whose hash is not before it. */
    @FunctionalInterface
    public interface Writer {
        /** @param entry as {@link Visitor#visit} has it */
        void write(long hash, long entry, DataOutput out) throws IOException;
    }

    /**
     * What is in the table and here, as of now: for each entry that comes or goes meanwhile it is written once, too.
     *
     * @param ofTable those of the table as of now, which knows of what comes and goes; taken over
     * @param newParts begins parts of those that are here
     */
    public FrozenState freeze(EntryWatch ofTable, Parts newParts, Writer writer) {
        List<ColdRun> runs = new ArrayList<>();
        parts.forEach(runs::addAll);
        runs.forEach(run -> run.freeze(!ofTable.isWhole()));
        return new FrozenRuns(ofTable, runs, newParts, writer);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        parts.forEach(all::addAll);
        all.add(onDisk);
        parts.clear();
        size = 0;
        Closing.all(all);
    }
}
