package dev.millrace.engine.topn;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToIntFunction;

/** The order of a TopN over encoded rows. Those that tie are in the order of their bytes. */
final class TotalOrder {
    private final RowOrder order;
    private final LongToIntFunction lengths;

    /** @param lengths of rows by their addresses */
    TotalOrder(TopN node, RowCodec codec, LongToIntFunction lengths) {
        List<Field> fields = node.input().schema().fields();
        this.lengths = lengths;
        this.order = new RowOrder(codec, fields.stream().map(Field::type).toList(), node.order());
    }

    boolean tie(long a, long b) {
        return order.compare(a, b) == 0;
    }

    /** Negative if a row comes before another, zero if they are equal. */
    int compare(long a, int aBytes, long b, int bBytes) {
        int byKeys = order.compare(a, b);
        return byKeys != 0 ? byKeys : Memory.compare(a, aBytes, b, bBytes);
    }

    void sort(long[] rows, int count) {
        order.sort(rows, count);
        for (int from = 0; from < count; ) {
            int to = from + 1;
            while (to < count && tie(rows[from], rows[to])) {
                to++;
            }
            if (to - from > 1) {
                sortByBytes(rows, from, to);
            }
            from = to;
        }
    }

    private void sortByBytes(long[] rows, int from, int to) {
        Long[] ties = new Long[to - from]; // ties are rare and few
        for (int i = from; i < to; i++) {
            ties[i - from] = rows[i];
        }
        Arrays.sort(ties, (a, b) -> Memory.compare(a, lengths.applyAsInt(a), b, lengths.applyAsInt(b)));
        for (int i = from; i < to; i++) {
            rows[i] = ties[i - from];
        }
    }
}
