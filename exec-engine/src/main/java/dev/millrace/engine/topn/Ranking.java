package dev.millrace.engine.topn;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import java.util.Arrays;

/**
 * Ranks the rows of a list. Rows that tie are numbered in the order of their bytes, so that the numbers depend on the
 * rows alone.
 */
final class Ranking {
    private final Rank rank;
    private final long first; // ranks from ... to, inclusive
    private final long last;
    private final TotalOrder order;
    private long[] rows = new long[64];
    private long[] ranks = new long[64];
    private long[] times = new long[64];
    private int count;

    Ranking(TopN node, RowCodec codec) {
        this.rank = node.rank();
        this.first = node.offset() + 1;
        this.last = node.limit() < 0 ? Long.MAX_VALUE : Math.addExact(node.offset(), node.limit());
        this.order = new TotalOrder(node, codec, RowTable::length);
    }

    /** Ranks the rows of a list and keeps those whose rank is asked for. */
    void rank(long list) {
        int all = 0;
        for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
            if (RowTable.weight(row) > 0) {
                if (all == rows.length) {
                    rows = Arrays.copyOf(rows, 2 * all);
                }
                rows[all++] = row;
            }
        }
        order.sort(rows, all);
        count = 0;
        long number = 0; // rows so far
        long dense = 0; // distinct values so far
        long current = 0;
        for (int i = 0; i < all && current <= last; i++) {
            boolean isNext = i == 0 || !order.tie(rows[i - 1], rows[i]);
            long weight = RowTable.weight(rows[i]);
            if (rank == Rank.ROW_NUMBER) {
                for (long time = 0; time < weight && number < last; time++) {
                    put(rows[i], ++number, 1);
                }
                current = number + (number >= last ? 1 : 0);
                continue;
            }
            dense += isNext ? 1 : 0;
            current = rank == Rank.DENSE_RANK ? dense : isNext ? number + 1 : current;
            put(rows[i], current, weight);
            number += weight;
        }
    }

    private void put(long row, long rowRank, long weight) {
        if (rowRank < first || rowRank > last) {
            return;
        }
        if (count == ranks.length) {
            ranks = Arrays.copyOf(ranks, 2 * count);
            times = Arrays.copyOf(times, 2 * count);
        }
        if (kept.length < ranks.length) {
            kept = Arrays.copyOf(kept, ranks.length);
        }
        kept[count] = row;
        ranks[count] = rowRank;
        times[count++] = weight;
    }

    private long[] kept = new long[64];

    /** How many rows were kept. */
    int count() {
        return count;
    }

    long row(int i) {
        return kept[i];
    }

    long rankOf(int i) {
        return ranks[i];
    }

    /** How often the row counts at this rank. */
    long weight(int i) {
        return times[i];
    }
}
