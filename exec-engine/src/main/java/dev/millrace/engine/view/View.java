package dev.millrace.engine.view;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** A Z-set of rows, for one thread at a time: what is left when all changes came. */
public final class View implements AutoCloseable {
    private final Schema schema;
    private final int batchRows;
    private final BufferAllocator allocator;
    private final RowCodec codec;
    private final RowTable table;
    private final int[] columns;
    private Optional<ArrowBuf> list = Optional.empty();
    private int[] rows = new int[0];
    private boolean closed;

    /** @param allocator closed by whoever made it, after the view */
    public View(Schema schema, int batchRows, BufferAllocator allocator) {
        this.schema = schema;
        this.batchRows = batchRows;
        this.allocator = allocator;
        List<DataType> types = schema.fields().stream().map(Field::type).toList();
        this.codec = new RowCodec(types, false, allocator);
        this.table = new RowTable(allocator);
        this.columns = IntStream.range(0, schema.size()).toArray();
    }

    /** What is to be added to some rows to make them others. Takes the batches over, and the caller closes the result. */
    public static List<Batch> difference(
            Schema schema, List<Batch> now, List<Batch> before, int batchRows, BufferAllocator allocator) {
        List<AutoCloseable> all = new ArrayList<>(now);
        all.addAll(before);
        try (View difference = new View(schema, batchRows, allocator)) {
            now.forEach(difference::apply);
            before.forEach(difference::withdraw);
            return difference.snapshot(allocator);
        } finally {
            Closing.all(all);
        }
    }

    /** Adds the rows by their weights. The batch stays the caller's. */
    public void apply(Batch batch) {
        add(batch, 1);
    }

    /** Takes the rows away by their weights. The batch stays the caller's. */
    private void withdraw(Batch batch) {
        add(batch, -1);
    }

    private void add(Batch batch, int sign) {
        int count = batch.rowCount();
        if (rows.length < count) {
            rows = IntStream.range(0, count).toArray();
        }
        codec.encode(batch, columns, rows, count);
        long weights = batch.weightsAddress();
        long address = list();
        for (int i = 0; i < count; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
            table.add(address, codec.address(i), codec.length(i), sign * weight);
        }
    }

    private long list() {
        if (list.isEmpty()) {
            ArrowBuf buffer = allocator.buffer(RowTable.LIST_BYTES);
            RowTable.initList(buffer.memoryAddress());
            list = Optional.of(buffer);
        }
        return list.get().memoryAddress();
    }

    /** All rows, in the caller's memory; the caller closes the batches. Weights only where rows occur more than once. */
    public List<Batch> snapshot(BufferAllocator target) {
        List<Batch> batches = new ArrayList<>();
        long[] addresses = new long[batchRows];
        try {
            long next = list.isEmpty() ? 0 : RowTable.first(list());
            while (next != 0) {
                int count = RowTable.collect(next, addresses);
                batches.add(decode(addresses, count, target));
                next = RowTable.next(addresses[count - 1]);
            }
            return batches;
        } catch (RuntimeException | Error e) {
            Closing.all(batches);
            throw e;
        }
    }

    private Batch decode(long[] addresses, int count, BufferAllocator target) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            long[] weights = new long[count];
            for (int i = 0; i < count; i++) {
                weights[i] = RowTable.weight(addresses[i]);
            }
            codec.decode(schema, 0, addresses, count, vectors, target);
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), count, weights, 0, target);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            List<AutoCloseable> all = new ArrayList<>(List.of(table, codec));
            list.ifPresent(all::add);
            list = Optional.empty();
            Closing.all(all);
        }
    }
}
