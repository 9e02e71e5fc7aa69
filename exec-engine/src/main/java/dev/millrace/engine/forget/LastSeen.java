package dev.millrace.engine.forget;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.memory.Memory;
import dev.millrace.operator.FrozenState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * When the last row of each key was, and whose is long ago. Keys lie in buckets by that time; one that was seen again is
 * moved when its old bucket is due, so that a row costs no more than a comparison.
 */
final class LastSeen implements AutoCloseable {
    /** The time of a key that has none yet. */
    static final long NEVER = Long.MIN_VALUE;

    private static final class Bucket {
        private long[] entries = new long[8];
        private int count;

        void add(long entry) {
            if (count == entries.length) {
                entries = Arrays.copyOf(entries, 2 * count);
            }
            entries[count++] = entry;
        }
    }

    private final KeyLayout keys;
    private final GroupTable table;
    private final long ttlMicros;
    private final long bucketMicros;
    private final NavigableMap<Long, Bucket> buckets = new TreeMap<>();
    private final ChangedEntries changes;

    LastSeen(KeyLayout keys, long ttlMicros, BufferAllocator allocator) {
        this.keys = keys;
        this.ttlMicros = ttlMicros;
        this.bucketMicros = Math.max(1_000, ttlMicros / 64);
        long[] initial = new long[(keys.end() - GroupTable.BODY) / 8 + 1];
        initial[initial.length - 1] = NEVER;
        this.table = new GroupTable(allocator, initial);
        this.changes = new ChangedEntries(table, keys::write, allocator);
    }

    GroupTable table() {
        return table;
    }

    long time(long entry) {
        return Memory.getLong(entry + keys.end());
    }

    /** A row of a key came; its time may be before that of the last. */
    void see(long entry, long micros) {
        long last = time(entry);
        if (last == NEVER) {
            buckets.computeIfAbsent(bucket(micros), start -> new Bucket()).add(entry);
        }
        if (micros > last) {
            changes.beforeChange(entry);
            setTime(entry, micros);
        }
    }

    private void setTime(long entry, long micros) {
        Memory.putLong(entry + keys.end(), micros);
    }

    private long bucket(long micros) {
        return Math.floorDiv(micros, bucketMicros);
    }

    /** Gives each key whose last row is as long ago as keys are kept, and forgets it. */
    int takeUntil(long watermarkMicros, LongConsumer taken) {
        long last = watermarkMicros - ttlMicros; // of a key that is due
        int count = 0;
        while (!buckets.isEmpty() && buckets.firstKey() <= bucket(last)) {
            Map.Entry<Long, Bucket> first = buckets.pollFirstEntry();
            Bucket stays = new Bucket();
            for (int i = 0; i < first.getValue().count; i++) {
                long entry = first.getValue().entries[i];
                long bucket = bucket(time(entry));
                if (time(entry) <= last) {
                    taken.accept(entry);
                    changes.beforeChange(entry);
                    changes.gone(entry);
                    remove(entry);
                    count++;
                } else if (bucket == first.getKey()) {
                    stays.add(entry);
                } else {
                    buckets.computeIfAbsent(bucket, start -> new Bucket()).add(entry);
                }
            }
            if (stays.count > 0) {
                buckets.put(first.getKey(), stays);
                break; // the time is in this bucket
            }
        }
        return count;
    }

    private void remove(long entry) {
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    /** Bytes held. */
    long bytes() {
        long bytes = table.bytes() + changes.bytes();
        for (Bucket bucket : buckets.values()) {
            bytes += 8L * bucket.entries.length;
        }
        return bytes;
    }

    /** Writes the keys of a group and their times: how many, then each. */
    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        out.writeLong(time(entry));
    }

    /** Adds keys that {@link #write} wrote, which are not there; {@link #readAll} follows. */
    void read(DataInput in) throws IOException {
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            long entry = keys.read(table, in);
            setTime(entry, in.readLong());
        }
    }

    /** The same of what changed. */
    void readChanges(DataInput in) throws IOException {
        boolean areGone = FrozenChanges.readKind(in) == FrozenChanges.GONE;
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            long made = keys.readNew(table, in);
            long found = keys.find(table, Memory.getLong(made), made);
            if (found < 0 && !areGone) {
                table.put(made);
                setTime(made, in.readLong());
                continue;
            }
            keys.free(made, table.memory());
            table.discard(made);
            if (!areGone) {
                setTime(found, in.readLong());
            } else if (found >= 0) {
                remove(found);
            }
        }
    }

    /** All was read that is there. */
    void readAll() {
        buckets.clear();
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                if (time(entry) != NEVER) {
                    buckets.computeIfAbsent(bucket(time(entry)), start -> new Bucket())
                            .add(entry);
                }
            }
        }
    }

    // ---- frozen with whose keys they are

    /** What this is to the table that the keys are of. */
    ChangedEntries.Further changes() {
        return changes.asFurther();
    }

    /** The times as they are now, or those that changed. */
    FrozenState freeze(boolean isWhole) {
        if (!isWhole) {
            return changes.freezeChanges(StateFormats.LAST_SEEN_SINCE, this::write);
        }
        FrozenEntries all =
                new FrozenEntries(table, StateFormats.LAST_SEEN, this::write, entry -> time(entry) != NEVER);
        changes.watch(all);
        return all;
    }

    @Override
    public void close() {
        buckets.clear();
        Closing.all(List.of(changes, table));
    }
}
