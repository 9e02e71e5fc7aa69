package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Columns by whose values rows are found.
 *
 * @param columns in the order of the key
 */
public record KeyColumns(List<Integer> columns) implements IndexKey {
    public KeyColumns {
        columns = List.copyOf(columns);
    }

    @Override
    public RowIndex newIndex(RowCodec codec, BufferAllocator allocator) {
        return new HashIndex(this, codec, allocator);
    }

    /** Whether values of a type may be part of a key: those that are equal just where they, or their keys, are the same bytes. */
    public static boolean suits(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
            case NUMERIC, BIGNUM, UUID, TEXT, VARCHAR, BYTEA -> true;
            case REAL, DOUBLE, INTERVAL, CHAR, JSONB, ARRAY, ROW, NULL -> false;
        };
    }

    /** The order by the columns, in which rows of one key tie. */
    RowOrder order(RowCodec codec) {
        List<DataType> types = new ArrayList<>();
        IntStream.range(0, codec.columnCount()).forEach(column -> types.add(codec.type(column)));
        List<OrderKey> keys = columns.stream()
                .map(column -> new OrderKey(column, false, false))
                .toList();
        return new RowOrder(codec, types, keys);
    }
}
