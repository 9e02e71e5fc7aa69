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
import java.util.List;
import java.util.Optional;
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
            long begun = journal.appended();
            long bytes = journal.writtenBytes();
            long needed = begun;
            for (CatalogObject object : database.catalog().objects()) {
                if (object.kind() == ObjectKind.TABLE) {
                    needed = Math.min(needed, write(object.name()).orElse(begun));
                }
            }
            journal.forget(needed, journal.writtenBytes() - bytes);
        } finally {
            journal.checkpointing().unlock();
        }
    }

    /**
     * Writes one table.
     *
     * @return up to which record nothing of it is needed any more; none if it is gone
     */
    private Optional<Long> write(String table) {
        TableKeys keys = database.tableKeys().get(table);
        if (keys == null) {
            return Optional.empty();
        }
        long asOf;
        Result rows;
        RowJournal.WholeTable whole;
        Interrupt.lock(keys.lock());
        try {
            Optional<CatalogObject> object =
                    database.catalog().object(table).filter(it -> it.kind() == ObjectKind.TABLE);
            if (object.isEmpty() || keys != database.tableKeys().get(table)) {
                return Optional.empty(); // dropped, or altered: what is altered is in later records
            }
            asOf = journal.appended();
            if (keys.lastEpoch() > 0) {
                database.engine().awaitEpoch(keys.lastEpoch(), List.of(table));
            }
            int columns = object.get().schema().size();
            whole = journal.whole(database.catalogStore().rowsOf(table).orElseThrow(), asOf);
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
        return Optional.of(asOf);
    }
}
