package dev.millrace.server.intake;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.SourceMemory;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.Result;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * What the source of a stream remembers: the rows of a table of the engine that no statement sees, and the same on the heap. The journal
 * and checkpoints have it as they have other tables. Safe on any thread, as {@link SourceMemory} says.
 */
final class StreamMemory implements SourceMemory {
    private static final Schema SCHEMA =
            Schema.of(new Field("name", DataType.TEXT, false), new Field("bytes", DataType.BYTEA, false));

    private final String table;
    private final Engine engine;
    private final RowJournal journal;
    private final Map<String, byte[]> entries = new ConcurrentHashMap<>();

    /** Of a stream whose table is there, or is being restored. */
    private StreamMemory(String table, Engine engine, RowJournal journal) {
        this.table = table;
        this.engine = engine;
        this.journal = journal;
    }

    /** The name of a stream's table. */
    static String tableOf(String stream) {
        return "memory of " + stream;
    }

    /** @param number by which the journal knows the table; 0 where nothing is kept */
    static StreamMemory add(String stream, long number, Engine engine, RowJournal journal) {
        engine.relations().addTable(tableOf(stream), SCHEMA, number);
        return new StreamMemory(tableOf(stream), engine, journal);
    }

    /** Reads what came again, when all of it did. */
    void restore(ToLongFunction<String> lastEpoch) {
        engine.awaitEpoch(lastEpoch.applyAsLong(table), List.of(table));
        try (Result there = engine.run(new PlanNode.Scan(table, List.of(0, 1), List.of(), SCHEMA))) {
            for (Optional<Batch> next = there.next(); next.isPresent(); next = there.next()) {
                try (Batch batch = next.get()) {
                    VarCharVector names = (VarCharVector) batch.column(0);
                    VarBinaryVector bytes = (VarBinaryVector) batch.column(1);
                    for (int row = 0; row < batch.rowCount(); row++) {
                        entries.put(new String(names.get(row), StandardCharsets.UTF_8), bytes.get(row));
                    }
                }
            }
        }
    }

    @Override
    public Map<String, byte[]> entries() {
        return Map.copyOf(entries);
    }

    @Override
    public void change(MemoryChange change) {
        Optional<Batch> rows = rows(change);
        if (rows.isPresent()) {
            Accepted accepted = engine.relations().accept(table, List.of(rows.get()));
            took(change);
            journal.awaitDurable(accepted.entry());
        }
    }

    /** A change and rows of the stream, in one step. Takes the rows over. */
    Accepted accept(String stream, Batch batch, MemoryChange change) {
        Optional<Batch> own;
        try {
            own = rows(change);
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
        if (own.isEmpty()) {
            return engine.relations().accept(stream, List.of(batch));
        }
        Accepted accepted = engine.accept(Map.of(stream, List.of(batch), table, List.of(own.get())));
        took(change);
        return accepted;
    }

    private void took(MemoryChange change) {
        change.removed().forEach(entries::remove);
        entries.putAll(change.put());
    }

    /** What goes and what comes; none if nothing changes. */
    private Optional<Batch> rows(MemoryChange change) {
        List<String> names = new ArrayList<>();
        List<byte[]> bytes = new ArrayList<>();
        List<Long> weights = new ArrayList<>();
        for (String name : change.removed()) {
            remove(name, names, bytes, weights);
        }
        change.put().forEach((name, value) -> {
            if (!change.removed().contains(name)) {
                remove(name, names, bytes, weights);
            }
            names.add(name);
            bytes.add(value);
            weights.add(1L);
        });
        return names.isEmpty() ? Optional.empty() : Optional.of(batch(names, bytes, weights, engine.allocator()));
    }

    private void remove(String name, List<String> names, List<byte[]> bytes, List<Long> weights) {
        byte[] before = entries.get(name);
        if (before != null) {
            names.add(name);
            bytes.add(before);
            weights.add(-1L);
        }
    }

    private static Batch batch(List<String> names, List<byte[]> bytes, List<Long> weights, BufferAllocator allocator) {
        int rows = names.size();
        List<AutoCloseable> made = new ArrayList<>();
        try {
            FieldVector[] columns = new FieldVector[SCHEMA.size()];
            for (int column = 0; column < columns.length; column++) {
                columns[column] = ArrowTypes.arrowField(SCHEMA.field(column)).createVector(allocator);
                made.add(columns[column]);
            }
            for (int row = 0; row < rows; row++) {
                byte[] name = names.get(row).getBytes(StandardCharsets.UTF_8);
                ((BaseVariableWidthVector) columns[0]).setSafe(row, name);
                ((BaseVariableWidthVector) columns[1]).setSafe(row, bytes.get(row));
            }
            BigIntVector weight = Vectors.allocateWeights(rows, allocator);
            made.add(weight);
            for (int row = 0; row < rows; row++) {
                weight.set(row, weights.get(row));
            }
            weight.setValueCount(rows);
            for (FieldVector column : columns) {
                column.setValueCount(rows);
            }
            return Batch.weighted(SCHEMA, columns, rows, weight);
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
    }
}
