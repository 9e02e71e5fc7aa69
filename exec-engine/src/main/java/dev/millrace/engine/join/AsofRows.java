package dev.millrace.engine.join;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * The rows of one key and side of an ASOF join in the order of time, equal times by their bytes,
 * the least last: of whole numbers that is the row with the least first column in which they differ. Changes wait until they
 * are merged in, sorted, all at once: rows that come in order cost no search, those that do not cost one merge for all of
 * them.
 *
 * <pre>
 *   row: time | weight | weight emitted | row emitted with, or 0 | length | bytes of a RowCodec
 * </pre>
 *
 * Rows of a settled join are emitted once, and it has no use for what was. There a version has its number in the place of
 * the weight emitted, 0 for other rows, which orders those of one time: the last is the one that counts.
 */
final class AsofRows {
    static final int BYTES = 40;

    private static final int WEIGHT = 8;
    private static final int EMITTED_WEIGHT = 16;
    private static final int MATCH = 24;
    private static final int LENGTH = 32;

    private final boolean versions;
    private long[] rows = new long[4];
    private int first;
    private int count;
    private long[] pending = new long[4];
    private int pendingCount;

    /** @param versions whether rows are versions, which {@link #setVersion} numbers */
    AsofRows(boolean versions) {
        this.versions = versions;
    }

    static long create(StateMemory memory, long time, long bytes, int length, long weight) {
        long row = memory.allocate(BYTES + length);
        Memory.putLong(row, time);
        Memory.putLong(row + WEIGHT, weight);
        Memory.putLong(row + EMITTED_WEIGHT, 0);
        Memory.putLong(row + MATCH, 0);
        Memory.putLong(row + LENGTH, length);
        Memory.copy(bytes, row + BYTES, length);
        return row;
    }

    static void free(StateMemory memory, long row) {
        memory.free(row, BYTES + length(row));
    }

    static long time(long row) {
        return Memory.getLong(row);
    }

    static long weight(long row) {
        return Memory.getLong(row + WEIGHT);
    }

    static int length(long row) {
        return (int) Memory.getLong(row + LENGTH);
    }

    static long emittedWeight(long row) {
        return Memory.getLong(row + EMITTED_WEIGHT);
    }

    static long match(long row) {
        return Memory.getLong(row + MATCH);
    }

    static void setVersion(long row, long number) {
        Memory.putLong(row + EMITTED_WEIGHT, number);
    }

    /** Whether a row says that there is no other from its time on. */
    static boolean isEnd(long row) {
        return Memory.getLong(row + EMITTED_WEIGHT) < 0;
    }

    static void setEmitted(long row, long match, long weight) {
        Memory.putLong(row + MATCH, match);
        Memory.putLong(row + EMITTED_WEIGHT, weight);
    }

    void add(long row) {
        if (pendingCount == pending.length) {
            pending = Arrays.copyOf(pending, 2 * pendingCount);
        }
        pending[pendingCount++] = row;
    }

    boolean hasPending() {
        return pendingCount > 0;
    }

    long leastPending() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < pendingCount; i++) {
            least = Math.min(least, time(pending[i]));
        }
        return least;
    }

    long greatestPending() {
        long greatest = Long.MIN_VALUE;
        for (int i = 0; i < pendingCount; i++) {
            greatest = Math.max(greatest, time(pending[i]));
        }
        return greatest;
    }

    int count() {
        return count;
    }

    /** Rows that take memory, also those that are not merged in yet. */
    int held() {
        return count + pendingCount;
    }

    long row(int i) {
        return rows[first + i];
    }

    /** Merges changes in: weights of equal rows add; a row of weight 0 stays until {@link #sweep}. */
    void merge(StateMemory memory) {
        if (pendingCount == 0) {
            return;
        }
        sortPending();
        int from = count == 0 || compare(row(count - 1), pending[0]) < 0 ? count : search(pending[0]);
        long[] tail = Arrays.copyOfRange(rows, first + from, first + count);
        int total = count + pendingCount;
        if (first + total > rows.length) {
            long[] larger = new long[Math.max(total, 2 * count)];
            System.arraycopy(rows, first, larger, 0, from);
            rows = larger;
            first = 0;
        }
        count = from;
        int a = 0;
        int b = 0;
        while (a < tail.length || b < pendingCount) {
            boolean old = b == pendingCount || a < tail.length && compare(tail[a], pending[b]) <= 0;
            long next = old ? tail[a++] : pending[b++];
            if (count > 0 && compare(row(count - 1), next) == 0) {
                long same = row(count - 1);
                Memory.putLong(same + WEIGHT, weight(same) + weight(next));
                free(memory, next);
            } else {
                rows[first + count++] = next;
            }
        }
        pendingCount = 0;
        if (pending.length > 64) {
            pending = new long[4];
        }
    }

    /** Removes and frees the rows of weight 0. */
    void sweep(StateMemory memory) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            long row = row(i);
            if (weight(row) == 0) {
                free(memory, row);
            } else {
                rows[first + kept++] = row;
            }
        }
        count = kept;
    }

    /** Removes and frees the first rows. */
    void removeFirst(int number, StateMemory memory) {
        for (int i = 0; i < number; i++) {
            free(memory, row(i));
        }
        first += number;
        count -= number;
        if (count == 0) {
            first = 0;
        }
    }

    /** How many rows are before a time, or at it, too. */
    int countBefore(long time, boolean orAt) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            long at = time(row(middle));
            if (at < time || orAt && at == time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    void forEach(LongConsumer consumer) {
        for (int i = 0; i < count; i++) {
            consumer.accept(row(i));
        }
    }

    /** Where a row is or would be. */
    private int search(long row) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            if (compare(row(middle), row) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int compare(long a, long b) {
        int byTime = Long.compare(time(a), time(b));
        if (byTime != 0 || a == b) {
            return byTime;
        }
        if (versions) {
            int byVersion = Long.compare(Math.abs(emittedWeight(a)), Math.abs(emittedWeight(b)));
            if (byVersion != 0) {
                return byVersion;
            }
        }
        int byLength = Integer.compare(length(b), length(a));
        if (byLength != 0) {
            return byLength;
        }
        for (int at = BYTES; at < BYTES + length(a); at += 8) { // lengths are multiples of eight
            int byWord = Long.compare(Memory.getLong(b + at), Memory.getLong(a + at));
            if (byWord != 0) {
                return byWord;
            }
        }
        return 0;
    }

    /** A merge sort from runs of one up; none when they are in order already, as they mostly are. */
    private void sortPending() {
        boolean ordered = true;
        for (int i = 1; i < pendingCount && ordered; i++) {
            ordered = compare(pending[i - 1], pending[i]) <= 0;
        }
        if (ordered) {
            return;
        }
        long[] from = pending;
        long[] to = new long[pending.length];
        for (int run = 1; run < pendingCount; run *= 2) {
            for (int start = 0; start < pendingCount; start += 2 * run) {
                int middle = Math.min(start + run, pendingCount);
                int end = Math.min(start + 2 * run, pendingCount);
                int a = start;
                int b = middle;
                for (int at = start; at < end; at++) {
                    boolean first = b == end || a < middle && compare(from[a], from[b]) <= 0;
                    to[at] = first ? from[a++] : from[b++];
                }
            }
            long[] swapped = from;
            from = to;
            to = swapped;
        }
        pending = from;
    }
}
