package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.KeptRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Has tables and streams accept once more what they accepted before the database was closed, in the same order. On the thread that opens
 * the database.
 */
public final class RestoredRows implements AutoCloseable {
    /** Short changes of one relation are put together: what was written row by row is not read so. */
    private static final int ENOUGH_ROWS = 4096;

    private final Instance database;
    private final BufferAllocator allocator;
    private final Map<String, Long> epochs = new HashMap<>(); // the last of each relation
    private Optional<Pending> pending = Optional.empty();
    private final Set<Long> passedBy = new HashSet<>(); // numbers of rows
    private long rows;

    /** Rows of one relation that are not accepted yet. */
    private record Pending(String relation, int[] columns, RowCopier rows) {}

    public RestoredRows(Instance database) {
        this.database = database;
        this.allocator = database.engine().allocator();
    }

    /** How many there were so far. */
    public long rows() {
        return rows;
    }

    /** Whether all was accepted that was taken so far. */
    public boolean isFlushed() {
        return pending.isEmpty();
    }

    /** Whether there were rows of this number while nothing had it. */
    public boolean passedBy(OptionalLong number) {
        return number.isPresent() && passedBy.contains(number.getAsLong());
    }

    /** Takes what was accepted in one step, by a record of the log; what was of relations that are not there is left out. */
    public void take(long record, List<KeptRows.Part> parts) {
        for (KeptRows.Part part : parts) {
            if (relation(part).isEmpty()) {
                passedBy.add(part.relation());
            }
        }
        List<KeptRows.Part> there =
                parts.stream().filter(part -> relation(part).isPresent()).toList();
        for (KeptRows.Part part : there) {
            String name = relation(part).orElseThrow();
            part.counters()
                    .forEach((column, value) -> database.catalog().numbers().goOn(name, column, value));
        }
        if (there.size() == 1) {
            KeptRows.Part part = there.get(0);
            String name = relation(part).orElseThrow();
            if (database.retained().keeps(part.relation())) {
                takeRetained(record, part, name);
                return;
            }
            for (ByteBuffer bytes : part.batches()) {
                take(name, read(name, bytes));
            }
        } else if (!there.isEmpty()) {
            flush();
            takeTogether(record, there);
        }
    }

    /** Of a stream that keeps its rows. */
    private void takeRetained(long record, KeptRows.Part part, String name) {
        List<Batch> batches = new ArrayList<>();
        try {
            for (ByteBuffer bytes : part.batches()) {
                batches.add(read(name, bytes));
            }
            database.retained().again(record, part.relation(), part.arrivedMicros(), batches);
            for (Batch batch : batches) {
                take(name, batch.retain());
            }
        } finally {
            Closing.all(batches);
        }
    }

    private Optional<String> relation(KeptRows.Part part) {
        return database.catalogStore().relationOf(part.relation());
    }

    private Schema schema(String relation) {
        return database.engine().relations().schema(relation);
    }

    private Batch read(String relation, ByteBuffer bytes) {
        Batch batch = BatchBytes.read(bytes, schema(relation), allocator);
        rows += batch.rowCount();
        return batch;
    }

    private void take(String relation, Batch batch) {
        try (batch) {
            if (pending.isPresent() && !pending.get().relation().equals(relation)) {
                flush();
            }
            if (batch.rowCount() >= ENOUGH_ROWS / 2) {
                flush();
                append(relation, batch.retain());
                return;
            }
            if (pending.isEmpty()) {
                Schema schema = schema(relation);
                int[] columns = IntStream.range(0, schema.size()).toArray();
                pending = Optional.of(new Pending(relation, columns, new RowCopier(schema, allocator)));
            }
            Pending to = pending.get();
            for (int row = 0; row < batch.rowCount(); row++) {
                long weight =
                        batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                to.rows().copy(batch, to.columns(), row, weight);
            }
        }
        if (pending.get().rows().rowCount() >= ENOUGH_ROWS) {
            flush();
        }
    }

    private void takeTogether(long record, List<KeptRows.Part> parts) {
        Map<String, List<Batch>> together = new HashMap<>();
        try {
            for (KeptRows.Part part : parts) {
                String name = relation(part).orElseThrow();
                int before = together.getOrDefault(name, List.of()).size();
                for (ByteBuffer bytes : part.batches()) {
                    together.computeIfAbsent(name, first -> new ArrayList<>()).add(read(name, bytes));
                }
                List<Batch> all = together.getOrDefault(name, List.of());
                database.retained()
                        .again(record, part.relation(), part.arrivedMicros(), all.subList(before, all.size()));
            }
        } catch (RuntimeException | Error e) {
            together.values().forEach(Closing::all);
            throw e;
        }
        if (!together.isEmpty()) {
            long epoch = database.engine().append(together);
            together.keySet().forEach(name -> accepted(name, epoch));
        }
    }

    /** Has all be accepted that was taken so far. */
    public void flush() {
        if (pending.isPresent()) {
            Pending of = pending.get();
            pending = Optional.empty();
            try (RowCopier copied = of.rows()) {
                append(of.relation(), copied.build());
            }
        }
    }

    private void append(String relation, Batch batch) {
        accepted(
                relation,
                database.engine().relations().accept(relation, List.of(batch)).epoch());
    }

    private void accepted(String relation, long epoch) {
        epochs.put(relation, epoch);
        database.recovery().accepted(relation, epoch);
    }

    /**
     * All is there: tables know their keys from here on, and who reads waits for answers that lack some of it.
     *
     * @param restored queries that got their state while rows came again
     */
    public void end(Collection<String> restored) {
        flush();
        Map<String, Long> firstEpochs = new HashMap<>();
        restored.forEach(name -> database.standing(name)
                .filter(query -> query.state() == QueryState.RUNNING && query.firstEpoch() > 0)
                .ifPresent(query -> firstEpochs.put(name, query.firstEpoch())));
        database.recovery().cameAll(firstEpochs, database.catalog());
        for (CatalogObject object : database.catalog().objects()) {
            if (object.kind() == ObjectKind.TABLE) {
                fillKeys(object);
            }
        }
    }

    /** Fills keys from nothing: a unique index that was made again has filled some already, with the rows of then. */
    private void fillKeys(CatalogObject table) {
        TableKeys keys = new TableKeys(table.name(), table.schema(), table.primaryKey(), table.rules(), allocator);
        try {
            fill(keys, table);
        } catch (RuntimeException | Error e) {
            keys.close();
            throw e;
        }
        Objects.requireNonNull(database.tableKeys().put(table.name(), keys)).close();
    }

    private void fill(TableKeys keys, CatalogObject table) {
        long epoch = epochs.getOrDefault(table.name(), 0L);
        if (epoch > 0) {
            keys.wrote(epoch);
            database.engine().awaitEpoch(epoch, List.of(table.name()));
        }
        if (keys.takesAnyRows()) {
            return;
        }
        database.engine().relations().rows(table.name()).ifPresent(keys::expect);
        PlanNode all = new PlanNode.Scan(
                table.name(), IntStream.range(0, table.schema().size()).boxed().toList(), List.of(), table.schema());
        try (Result there = database.engine().run(all)) {
            for (Optional<Batch> next = there.next(); next.isPresent(); next = there.next()) {
                try (Batch batch = next.get()) {
                    keys.fill(batch);
                }
            }
        }
    }

    @Override
    public void close() {
        pending.ifPresent(of -> of.rows().close());
    }
}
