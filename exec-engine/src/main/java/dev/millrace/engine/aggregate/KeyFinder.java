package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.KernelWriter.Entries;
import dev.millrace.engine.aggregate.KernelWriter.Variant;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;

/** Generated code that only finds the entries of rows by their keys, for operators whose state is not aggregates. */
public final class KeyFinder implements AutoCloseable {
    private final Schema input;
    private final KeyLayout keys;
    private final NestedImages images;
    private final ChangeLog noLog;
    private final Map<Variant, GroupKernel> kernels = new HashMap<>();
    private final Map<Variant, GroupKernel> lookups = new HashMap<>();
    private long[] entries = new long[0];

    /**
     * @param keys if their layout has no NULLs, the rows given have none either
     */
    public KeyFinder(Schema input, KeyLayout keys, BufferAllocator allocator) {
        this.input = keys.hasNulls() ? input : notNull(input);
        this.keys = keys;
        this.images = new NestedImages(allocator);
        this.noLog = new ChangeLog(new AggregateLayout(keys, List.of(), input, false, false), allocator);
    }

    private static Schema notNull(Schema schema) {
        List<Field> fields = new ArrayList<>();
        schema.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), false)));
        return new Schema(fields);
    }

    /** The entries of rows, added where missing; valid until the next call. */
    public long[] find(GroupTable table, Batch batch, int[] rows, int count) {
        return find(kernels, Entries.BY_KEY_REMEMBERED, table, batch, rows, count);
    }

    /** The entries of rows, 0 where there is none; valid until the next call. Not of no keys. */
    public long[] known(GroupTable table, Batch batch, int[] rows, int count) {
        return find(lookups, Entries.KNOWN_BY_KEY, table, batch, rows, count);
    }

    private long[] find(
            Map<Variant, GroupKernel> made, Entries how, GroupTable table, Batch batch, int[] rows, int count) {
        if (entries.length < count) {
            entries = new long[count];
        }
        boolean nulls = false;
        for (KeyLayout.Key key : keys.keys()) {
            nulls |= keys.hasNulls() && batch.hasNulls(key.column());
        }
        GroupKernel kernel = made.computeIfAbsent(
                new Variant(nulls, false),
                variant -> KernelWriter.groups(input, keys, List.of(), AggregateState.NONE, how, false, variant)
                        .compile(GroupKernel.class));
        kernel.add(table, batch, images, rows, count, entries, noLog);
        images.clear();
        return entries;
    }

    @Override
    public void close() {
        images.close();
        noLog.close();
    }
}
