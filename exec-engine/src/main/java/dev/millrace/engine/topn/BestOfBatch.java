package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.ValuesEqual;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Leaves out rows of a batch that another one of it pushes out where a partition keeps one row: each that gets as far as
 * the partition costs a look into its table, and many a copy. In loops almost without branches: which rows these are is
 * random.
 */
final class BestOfBatch implements AutoCloseable {
    private final int[] columns;
    private final boolean suits;
    private final NestedImages images;
    private long[] hashes = new long[0];
    private int[] slots = new int[4]; // by the hash's bits: a row without a better one, of those that fell there
    private int[] doomed = new int[0];
    private int[] better = new int[0]; // per doomed row the one that beats it

    BestOfBatch(Schema input, List<Integer> partition, int limit, BufferAllocator allocator) {
        this.columns = partition.stream().mapToInt(Integer::intValue).toArray();
        this.suits = limit == 1
                && partition.stream().noneMatch(column -> input.type(column).isNested());
        this.images = new NestedImages(allocator);
    }

    /**
     * Collects positions of rows, ascending: all but such as have a greater word than another row of their partition.
     *
     * @return how many they are
     */
    int find(Batch batch, long[] words, int[] into) {
        int count = batch.rowCount();
        if (!suits) {
            return all(count, into);
        }
        makeRoom(count);
        Hashing.hash(batch, columns, count, hashes, images);
        int shift = Integer.numberOfLeadingZeros(count - 1 | 1) - 1; // of two to four slots per row
        Arrays.fill(slots, 0, 1 << Integer.SIZE - shift, 0);
        for (int row = 0; row < count; row++) {
            int slot = (int) (hashes[row] >>> 16) >>> shift;
            int other = slots[slot];
            slots[slot] = words[other] <= words[row] && hashes[other] == hashes[row] ? other : row;
        }
        int found = 0;
        int lost = 0;
        for (int row = 0; row < count; row++) {
            int best = slots[(int) (hashes[row] >>> 16) >>> shift];
            into[found] = row;
            doomed[lost] = row;
            better[lost] = best;
            int isBeaten = words[best] < words[row] & hashes[best] == hashes[row] ? 1 : 0;
            found += 1 - isBeaten;
            lost += isBeaten;
        }
        return areTogether(batch, lost) ? found : all(count, into);
    }

    private static int all(int count, int[] into) {
        for (int row = 0; row < count; row++) {
            into[row] = row;
        }
        return count;
    }

    private void makeRoom(int count) {
        if (hashes.length < count) {
            hashes = new long[count];
            slots = new int[4 * Integer.highestOneBit(count)];
            doomed = new int[count];
            better = new int[count];
        }
    }

    /** Whether the doomed rows are of the same partition as the better ones; nearly always, as their hashes are equal. */
    private boolean areTogether(Batch batch, int lost) {
        boolean equal = true;
        for (int column : columns) {
            if (batch.validityAddress(column) == 0
                    && batch.schema().type(column).fixedWidth() == 8) {
                long data = batch.dataAddress(column);
                for (int i = 0; i < lost; i++) {
                    equal &= Memory.getLong(data + 8L * doomed[i]) == Memory.getLong(data + 8L * better[i]);
                }
            } else {
                for (int i = 0; i < lost; i++) {
                    equal &= ValuesEqual.equal(batch.column(column), doomed[i], better[i]);
                }
            }
        }
        return equal;
    }

    @Override
    public void close() {
        images.close();
    }
}
