package dev.millrace.engine.over;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowSort;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;
import java.util.List;

/** A view of one partition's rows in order: {@link #show} says which. Rows that tie are in the order of their bytes. */
final class OrderedRows {
    private final RowOrder order;
    private final RowCodec codec;
    private final OrderKey firstKey;
    private final DataType keyType;
    private long array;
    private int count;

    OrderedRows(RowCodec codec, List<DataType> types, List<OrderKey> keys) {
        this.codec = codec;
        this.order = new RowOrder(codec, types, keys);
        this.firstKey = keys.isEmpty() ? new OrderKey(0, false, false) : keys.get(0);
        this.keyType = keys.isEmpty() ? DataType.BIGINT : types.get(firstKey.column());
    }

    /** @param newArray address of the rows' addresses */
    void show(long newArray, int newCount) {
        array = newArray;
        count = newCount;
    }

    int count() {
        return count;
    }

    long at(int index) {
        return Memory.getLong(array + 8L * index);
    }

    RowCodec codec() {
        return codec;
    }

    /** The order without ties. */
    int compareTotally(long a, long b) {
        int comparison = order.compare(a, b);
        return comparison != 0 ? comparison : Memory.compare(a, KeptRow.length(a), b, KeptRow.length(b));
    }

    boolean tie(long a, long b) {
        return order.compare(a, b) == 0;
    }

    /** The order key of a row against the value that another row has in a column of the key's type. */
    int compareKey(long row, long other, int column) {
        boolean isNull = RowCodec.isNull(row, firstKey.column());
        boolean otherNull = RowCodec.isNull(other, column);
        if (isNull || otherNull) {
            return isNull == otherNull ? 0 : isNull == firstKey.nullsFirst() ? -1 : 1;
        }
        int comparison = RowOrder.compare(keyType, row, codec.slot(firstKey.column()), other, codec.slot(column));
        return firstKey.descending() ? -comparison : comparison;
    }

    /** The first row that does not come before {@code row}, in the order without ties. */
    int firstNotBefore(long row) {
        int low = 0;
        int high = count;
        if (count == 0 || compareTotally(at(count - 1), row) < 0) {
            return count; // new rows mostly come last
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compareTotally(at(middle), row) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The first row that ties with the one at an index. */
    int firstPeer(int index) {
        long row = at(index);
        if (index == 0 || !tie(at(index - 1), row)) {
            return index;
        }
        int low = 0;
        int high = index - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (order.compare(at(middle), row) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The first row behind those that tie with the one at an index. */
    int endOfPeers(int index) {
        long row = at(index);
        if (index + 1 == count || !tie(at(index + 1), row)) {
            return index + 1;
        }
        int low = index + 2;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (order.compare(at(middle), row) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Sorts rows by the order without ties. */
    void sort(long[] rows, int size) {
        boolean sorted = true;
        for (int i = 1; i < size && sorted; i++) {
            sorted = compareTotally(rows[i - 1], rows[i]) <= 0;
        }
        if (!sorted) {
            RowSort.sort(rows, size, this::compareTotally);
        }
    }
}
