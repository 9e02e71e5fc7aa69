package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/** All rows that an operator keeps, equal ones once with their weight, without keys. One thread. */
public final class RowBag implements AutoCloseable {
    private final Schema schema;
    private final OperatorContext context;
    private final Owned owned = new Owned();
    private final int[] columns;
    private final RowCodec codec;
    private final RowTable rows;
    private final long list;

    public RowBag(Schema schema, OperatorContext context) {
        this.schema = schema;
        this.context = context;
        this.columns = new int[schema.size()];
        Arrays.setAll(columns, column -> column);
        this.codec =
                owned.own(new RowCodec(schema.fields().stream().map(Field::type).toList(), false, context.allocator()));
        this.rows = owned.own(new RowTable(context.allocator()));
        this.list = owned.own(new StateMemory(context.allocator())).allocate(RowTable.LIST_BYTES);
        RowTable.initList(list);
    }

    public RowCodec codec() {
        return codec;
    }

    /** Adds the rows of a batch, which stays the caller's, and tells of the size. */
    public void add(Batch batch) {
        int count = batch.rowCount();
        codec.encode(batch, columns, Rows.all(count), count);
        long weights = batch.weightsAddress();
        for (int i = 0; i < count; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
            rows.add(list, codec.address(i), codec.length(i), weight);
        }
        reportSize();
    }

    public void remove(long row) {
        rows.removeRow(row);
    }

    public void reportSize() {
        context.metrics().stateSize(rows.bytes(), rows.size());
    }

    /** How many different rows there are. */
    public int size() {
        return rows.size();
    }

    /** The first row, 0 if there is none; {@link RowTable#next} leads on. */
    public long first() {
        return RowTable.first(list);
    }

    /** The columns of some rows, which are the caller's. */
    public FieldVector[] decode(long[] some, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column : columns) {
                vectors.add(codec.decode(column, schema.field(column), some, count, context.allocator()));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        return vectors.toArray(FieldVector[]::new);
    }

    /** Writes all as one part of the operator's state. */
    public void snapshot(StateWriter writer, StateFormat state, int keyGroup) throws IOException {

        rows.writeList(list, writer.keyGroup(state, keyGroup));
    }

    public void restore(StateReader reader, StateFormat state) {
        reader.keyGroups(state, (in, group) -> {
            rows.readList(list, in, true);
        });
    }

    @Override
    public void close() {
        owned.close();
    }
}
