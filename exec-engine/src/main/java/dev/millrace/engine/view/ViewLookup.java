package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Reads rows of one view by one of its keys, as of the version that is current. For one thread at a time. */
public final class ViewLookup {
    private final VersionedView view;
    private final KeyColumns key;
    private final HashIndex index;
    private final RowCodec codec; // to decode, which keeps no memory

    ViewLookup(VersionedView view, KeyColumns key, HashIndex index, RowCodec codec) {
        this.view = view;
        this.key = key;
        this.index = index;
        this.codec = codec;
    }

    HashIndex index() {
        return index;
    }

    /** Whether the view, or the index, is no longer there: another lookup is to be asked for. */
    public boolean isClosed() {
        return view.isClosed() || !view.has(index);
    }

    /**
     * Finds the rows with the values of each of some keys, all as of one version.
     *
     * @param keys different ones; literals for all columns of the key
     * @return false if there are more than {@code most}, or the view is gone; nothing can be read then
     */
    public boolean find(LookupScratch scratch, List<List<Literal>> keys, int most) {
        return view.look(scratch.found, most, () -> {
            for (List<Literal> values : keys) {
                set(scratch.key, values);
                index.find(scratch.key.address(), scratch.found);
            }
        });
    }

    private void set(KeyRow row, List<Literal> values) {
        row.begin(codec);
        for (int i = 0; i < values.size(); i++) {
            row.set(key.columns().get(i), values.get(i));
        }
    }

    /** Some columns of the rows that were found last, as often as each is there; at least one row. The caller closes it. */
    public Batch rows(LookupScratch scratch, List<Integer> columns, Schema schema, BufferAllocator target) {
        long[] rows = scratch.found.addresses();
        List<FieldVector> vectors = new ArrayList<>(columns.size());
        try {
            for (int i = 0; i < columns.size(); i++) {
                vectors.add(codec.decode(columns.get(i), schema.field(i), rows, rows.length, target));
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), rows.length);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** How many rows were found last. */
    public int count(LookupScratch scratch) {
        return scratch.found.count();
    }
}
