package dev.millrace.server.checkpoint;

import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.journal.RowJournal.Mark;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.storage.CatalogRecord;
import dev.millrace.server.storage.CheckpointCatalog;
import dev.millrace.server.storage.CheckpointStore;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Writes all that a database keeps, while rows flow, and has the log forget how it came to be. It is cut between two statements that
 * change definitions, so that it has what these are of. On any thread; one at a time.
 */
public final class DatabaseCheckpoint {
    private static final EventLog LOG = EventLog.named("storage");

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MOST_RETRIES = 600; // a minute, in which nobody else can define anything
    private static final int MOST_TRIES = 3; // while queries come to their ends, or are dropped

    private final Instance database;
    private final RowJournal journal;

    public DatabaseCheckpoint(Instance database) {
        this.database = database;
        this.journal = database.journal();
    }

    /**
     * Waits until it is on disk. When a query ends or is altered just then it is cut once more.
     *
     * @throws MillraceException what {@code Engine.checkpoint} says; 53100 or 58030 when the disk takes nothing, or why the statement under
     *     way was stopped; then the checkpoint before counts, and the log is as it was
     */
    public void run() {
        boolean isWritten = false;
        int failed = 0;
        while (!isWritten && journal.isWriting() && !database.catalogStore().hasLostTables()) {
            database.uncommitted().await(Optional.empty(), 0); // what a transaction may undo is in no checkpoint
            Interrupt.lock(journal.checkpointing());
            try {
                isWritten = write(Optional.empty());
            } catch (MillraceException e) {
                if (e.sqlState() != SqlState.SERIALIZATION_FAILURE || ++failed == MOST_TRIES) {
                    throw e;
                }
            } finally {
                journal.checkpointing().unlock();
            }
        }
    }

    /**
     * The same behind a transaction that altered what queries read, by who holds the locks of checkpoints and of definitions: without it
     * they would begin anew after a crash.
     */
    public void runBehind() {
        try {
            write(Optional.empty());
        } catch (MillraceException e) {
            LOG.warning("no checkpoint of what was altered", "reason", String.valueOf(e.getMessage()));
        }
    }

    /**
     * The same as part of a statement that alters what keeps state: what it made, and that it made it, are kept in one step. By who
     * holds the locks of checkpoints and of definitions.
     *
     * @param ahead what the statement will have the catalog keep
     * @param isNeeded whether queries would begin anew after a crash without it: then this waits a minute for a disk that takes nothing
     * @return whether it is kept; if not, the log says why
     * @throws MillraceException why the statement under way was stopped; then it is not kept
     */
    public boolean run(CatalogRecord ahead, boolean isNeeded) {
        for (int retries = 0; ; retries++) {
            try {
                database.catalogStore().writeOwed(); // before it, in the order in which it took effect
                return write(Optional.of(ahead));
            } catch (MillraceException e) {
                Interrupt.checkCurrent();
                boolean passes = e.sqlState() == SqlState.DISK_FULL || e.sqlState() == SqlState.IO_ERROR;
                if (!isNeeded || !passes || retries >= MOST_RETRIES) {
                    LOG.warning("no checkpoint of what was altered", "reason", e.getMessage());
                    return false;
                }
                if (retries == 0) {
                    LOG.warning("what was altered waits for a checkpoint", "reason", e.getMessage());
                }
            }
            database.host().pause(RETRY_NANOS);
            Interrupt.checkCurrent();
        }
    }

    private boolean write(Optional<CatalogRecord> ahead) {
        if (!journal.isWriting() || database.catalogStore().hasLostTables()) {
            return false; // rows of a table that could not be made again are in what there is, and nowhere else
        }
        DataDirectory directory = database.catalogStore().directory().orElseThrow();
        try (CheckpointStore.Writing writing = database.checkpoints().begin()) {
            List<Mark> cut = new ArrayList<>(); // one, or none yet
            long record;
            List<CatalogRecord> records;
            CheckpointSummary summary;
            DroppedSinks dropped;
            database.lockDefinitions();
            try {
                if (database.uncommitted().areThere()) {
                    return false;
                }
                directory.settle(); // a record by its number is what it says, or not there
                if (ahead.isEmpty()) {
                    database.catalogStore().keepOwed(); // else it would be of definitions that the catalog has not
                }
                record = directory.lastRecord() + (ahead.isPresent() ? 1 : 0);
                dropped = new DroppedSinks(directory, database.catalogStore());
                records = new ArrayList<>(directory.catalog().records());
                ahead.ifPresent(records::add);
                summary = database.engine().checkpoint(writing, number -> {
                    database.retained().cut(number);
                    cut.add(journal.mark());
                    database.definitionLock().unlock();
                });
            } finally {
                if (cut.isEmpty()) {
                    database.definitionLock().unlock();
                }
            }
            Map<String, Map<String, Long>> counters = counters();
            Mark then = cut.get(0);
            journal.awaitAll(); // also rows of streams that nothing reads, which no epoch waits for
            database.retained().flush(then.last(), summary.number()); // the log is going to forget them
            CheckpointCatalog catalog = new CheckpointCatalog(
                    record,
                    KeptCatalog.of(records).records(),
                    counters,
                    ahead,
                    Map.of(),
                    journal.identity(),
                    database.retained().lastEntries(summary.number()));
            long bytes = writing.publish(then.last(), catalog);
            database.retained().published(summary.number());
            database.engine().published(summary.number());
            journal.forget(then, bytes);
            dropped.remove();
            LOG.info(
                    "checkpoint",
                    "millis",
                    TimeUnit.NANOSECONDS.toMillis(summary.nanos()),
                    "bytes",
                    bytes,
                    "without_state",
                    String.join(", ", summary.begunAnew()));
            return true;
        }
    }

    /** How far the counters are by now, which may be further than those of the rows that are in it. */
    private Map<String, Map<String, Long>> counters() {
        Map<String, Map<String, Long>> counters = new TreeMap<>();
        for (CatalogObject object : database.catalog().objects()) {
            if (object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.STREAM) {
                Map<String, Long> last = database.catalog().numbers().last(object.name());
                if (!last.isEmpty()) {
                    counters.put(object.name(), last);
                }
            }
        }
        return counters;
    }
}
