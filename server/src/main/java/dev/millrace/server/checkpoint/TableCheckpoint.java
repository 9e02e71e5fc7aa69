package dev.millrace.server.checkpoint;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Result;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Writes all rows of all tables into the log once more, and has it forget what came before. Each table is held up for as long as
 * its last epoch takes to be shown, and no longer: its rows are read as of then while others change them. On any thread; one at a time.
 */
public final class TableCheckpoint {
    private final Instance database;
    private final RowJournal journal;

    public TableCheckpoint(Instance database) {
        this.database = database;
        this.journal = database.journal();
    }

    /**
     * Waits until it is done.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030 when the disk takes nothing, or why the statement under way was
     *     stopped; then what was in the log is there still
     */
    public void run() {
        if (!journal.isWriting() || database.catalogStore().hasLostTables()) {
            return; // rows of a table that could not be made again are in the log, and nowhere else
        }
        Interrupt.lock(journal.checkpointing());
        try {
            long[] before = betweenDefinitions(() ->
                    new long[] {journal.appended(), database.catalogStore().newestRows()});
            long bytes = journal.writtenBytes();
            Set<Long> written = new HashSet<>();
            for (CatalogObject object : database.catalog().objects()) {
                if (object.kind() == ObjectKind.TABLE) {
                    write(object.name()).ifPresent(written::add);
                }
            }
            // A table that is being dropped or altered is still as it was until that is on disk.
            boolean whole = betweenDefinitions(() -> database.catalogStore().keptRows().stream()
                    .allMatch(number -> number > before[1] || written.contains(number)));
            if (whole) {
                journal.forget(before[0], journal.writtenBytes() - bytes);
            }
        } finally {
            journal.checkpointing().unlock();
        }
    }

    /** Looks at something while no statement changes definitions. */
    private <T> T betweenDefinitions(Supplier<T> look) {
        database.lockDefinitions();
        try {
            return look.get();
        } finally {
            database.definitionLock().unlock();
        }
    }

    /**
     * Writes one table.
     *
     * @return the number of its rows, of which nothing before is needed any more; none if it is gone, or another by now
     */
    private Optional<Long> write(String table) {
        TableKeys keys = database.tableKeys().get(table);
        if (keys == null) {
            return Optional.empty();
        }
        long number;
        Result rows;
        RowJournal.WholeTable whole;
        Interrupt.lock(keys.lock());
        try {
            Optional<CatalogObject> object =
                    database.catalog().object(table).filter(it -> it.kind() == ObjectKind.TABLE);
            if (object.isEmpty() || keys != database.tableKeys().get(table)) {
                return Optional.empty(); // dropped or altered meanwhile
            }
            long asOf = journal.appended();
            if (keys.lastEpoch() > 0) {
                database.engine().awaitEpoch(keys.lastEpoch(), List.of(table));
            }
            int columns = object.get().schema().size();
            number = database.catalogStore().rowsOf(table).orElseThrow();
            whole = journal.whole(number, asOf);
            rows = database.engine()
                    .run(new PlanNode.Scan(
                            table,
                            IntStream.range(0, columns).boxed().toList(),
                            List.of(),
                            object.get().schema()));
        } finally {
            keys.unlock();
        }
        try (rows) {
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    whole.add(batch);
                }
            }
            journal.awaitDurable(whole.append());
        } finally {
            whole.close();
        }
        return Optional.of(number);
    }
}
