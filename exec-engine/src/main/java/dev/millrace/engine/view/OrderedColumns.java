package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** Columns by whose order rows are found: as ORDER BY with the same keys has it. At least one. */
public record OrderedColumns(List<OrderKey> keys) implements IndexKey {
    public OrderedColumns {
        keys = List.copyOf(keys);
    }

    @Override
    public RowIndex newIndex(RowCodec codec, BufferAllocator allocator) {
        return new OrderedIndex(this, codec, allocator);
    }

    /** The order by the first columns, in which rows that have these in common tie. */
    RowOrder order(RowCodec codec, int first) {
        List<DataType> types = new ArrayList<>();
        IntStream.range(0, codec.columnCount()).forEach(column -> types.add(codec.type(column)));
        return new RowOrder(codec, types, keys.subList(0, first));
    }
}
