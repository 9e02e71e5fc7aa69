package dev.millrace.engine.over;

import java.util.Arrays;

/** Puts the pending rows of a partition in order among those that are there. */
final class OrderedArrivals {
    private final PartitionState partitions;
    private final OrderedRows rows;
    private final Changes changes;
    private long[] pending = new long[64];
    private int pendingCount;
    private long[] tail = new long[64]; // the rows from the first change on, as they are after it
    private int tailCount;
    private int[] changedAt = new int[64];
    private long[] changedRows = new long[64];
    private boolean[] came = new boolean[64];
    private int changed;

    OrderedArrivals(PartitionState partitions, OrderedRows rows, Changes changes) {
        this.partitions = partitions;
        this.rows = rows;
        this.changes = changes;
    }

    /** Merges what is pending for a partition, which is shown afterwards, and says which rows that touches. */
    void merge(long entry, Reach reach, Computation computation) {
        show(entry);
        takePending(entry);
        if (pendingCount == 0) {
            return;
        }
        int first = rows.firstNotBefore(pending[0]);
        mergeFrom(entry, first);
        partitions.replace(entry, first, tail, tailCount);
        show(entry);
        for (int i = 0; i < changed; i++) {
            reach.add(changedAt[i], changedRows[i], came[i]);
            computation.changed(changedAt[i], changedRows[i], came[i]);
        }
        computation.endChanges();
    }

    /** Forgets the first rows of a partition. */
    void evict(long entry, int evicted) {
        for (int i = 0; i < evicted; i++) {
            changes.freeRow(rows.at(i));
        }
        partitions.dropFirst(entry, evicted);
        show(entry);
    }

    /** Shows the rows of a partition. */
    void show(long entry) {
        rows.show(partitions.array(entry), partitions.count(entry));
    }

    /** Sorts what is pending and makes one of rows that are equal. */
    private void takePending(long entry) {
        int count = 0;
        for (long row = partitions.takePending(entry); row != 0; row = KeptRow.next(row)) {
            if (count == pending.length) {
                pending = Arrays.copyOf(pending, 2 * count);
            }
            pending[count++] = row;
        }
        for (int i = 0, j = count - 1;
                i < j;
                i++, j--) { // the chain begins with the newest; order of arrival sorts faster
            long row = pending[i];
            pending[i] = pending[j];
            pending[j] = row;
        }
        rows.sort(pending, count);
        pendingCount = 0;
        for (int i = 0; i < count; ) {
            long row = pending[i];
            long weight = KeptRow.weight(row);
            for (i++; i < count && rows.compareTotally(row, pending[i]) == 0; i++) {
                weight += KeptRow.weight(pending[i]);
                KeptRow.free(pending[i], partitions.memory());
            }
            if (weight == 0) {
                KeptRow.free(row, partitions.memory());
            } else {
                KeptRow.setWeight(row, weight);
                pending[pendingCount++] = row;
            }
        }
    }

    private void mergeFrom(long entry, int first) {
        tailCount = 0;
        changed = 0;
        int old = first;
        for (int i = 0; i < pendingCount; i++) {
            long row = pending[i];
            while (old < rows.count() && rows.compareTotally(rows.at(old), row) < 0) {
                keep(rows.at(old++));
            }
            long weight = KeptRow.weight(row);
            if (weight > 0) {
                insert(first, row, weight);
                continue;
            }
            while (weight < 0 && old < rows.count() && rows.compareTotally(rows.at(old), row) == 0) {
                remove(first, rows.at(old++));
                weight++;
            }
            if (weight < 0) { // more was retracted than is there: it must still come
                KeptRow.setWeight(row, weight);
                partitions.pend(entry, row);
            } else {
                KeptRow.free(row, partitions.memory());
            }
        }
        while (old < rows.count()) {
            keep(rows.at(old++));
        }
    }

    private void insert(int first, long row, long weight) {
        KeptRow.setResult(row, 0);
        change(first + tailCount, row, true);
        keep(row);
        for (long copies = 1; copies < weight; copies++) {
            long copy = KeptRow.create(row, KeptRow.length(row), partitions.memory());
            change(first + tailCount, copy, true);
            keep(copy);
        }
    }

    private void remove(int first, long row) {
        if (KeptRow.result(row) != 0) {
            changes.add(row, KeptRow.result(row), -1);
        }
        changes.freeRow(row);
        change(first + tailCount, row, false);
    }

    private void keep(long row) {
        if (tailCount == tail.length) {
            tail = Arrays.copyOf(tail, 2 * tailCount);
        }
        tail[tailCount++] = row;
    }

    private void change(int index, long row, boolean rowCame) {
        if (changed == changedAt.length) {
            changedAt = Arrays.copyOf(changedAt, 2 * changed);
            changedRows = Arrays.copyOf(changedRows, 2 * changed);
            came = Arrays.copyOf(came, 2 * changed);
        }
        changedAt[changed] = index;
        changedRows[changed] = row;
        came[changed++] = rowCame;
    }
}
