package dev.millrace.server.backup;

import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.checkpoint.DatabaseCheckpoint;
import dev.millrace.server.history.HistoriesImage;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.log.LogImage;
import dev.millrace.storage.manifest.ManifestImage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies the data directory of a database while clients go on.
 *
 * <pre>
 *   a checkpoint is written, so that little of the log is needed
 *   between two definitions and two checkpoints: what there is on disk is noted, and held     (some milliseconds)
 *   it is copied; what is written meanwhile is not in it, and what is not needed any more stays until the end
 * </pre>
 *
 * On the thread of who asks for it, which may be interrupted; two at a time are two backups.
 */
public final class DatabaseBackup {
    private static final EventLog LOG = EventLog.named("storage");

    private final Instance database;
    private final List<FileImage> files = new ArrayList<>();
    private final List<AutoCloseable> held = new ArrayList<>();

    public DatabaseBackup(Instance database) {
        this.database = database;
    }

    /**
     * Makes a backup: one state that the database had since this was called, with all that had been answered before.
     *
     * @param target there is nothing of this name, or an empty directory
     * @throws MillraceException 55000 if nothing is kept on disk; F0000 and F0001 if the target cannot be used; XX001 if what is on
     *     disk is damaged; 53100 or 58030 where it cannot be read, or the target takes nothing; why the statement under way was stopped.
     *     Then there is no target
     */
    public BackupSummary run(Path target) {
        DataDirectory directory = database.catalogStore()
                .directory()
                .filter(any -> database.journal().isWriting())
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "there is nothing to back up: the database keeps nothing on disk"));
        try (BackupTarget to = BackupTarget.begin(target, Path.of(directory.path()))) {
            checkpoint();
            long asOfMicros = hold(directory);
            BackupSummary summary = to.finish(files, asOfMicros);
            LOG.info("backup", "target", target, "files", summary.files(), "bytes", summary.bytes());
            return summary;
        } finally {
            Closing.all(held);
        }
    }

    /** Without it the one before will do, with more of the log. */
    private void checkpoint() {
        try {
            new DatabaseCheckpoint(database).run();
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            LOG.warning("no checkpoint before the backup", "reason", String.valueOf(e.getMessage()));
        }
    }

    /** Notes what there is; returns when that was. */
    private long hold(DataDirectory directory) {
        Interrupt.lock(database.journal().checkpointing());
        try {
            database.lockDefinitions();
            try {
                return holdAll(directory); // without what a transaction has not committed, as it is on disk
            } finally {
                database.definitionLock().unlock();
            }
        } finally {
            database.journal().checkpointing().unlock();
        }
    }

    /** What was told to subscribers comes first, then the log that has all that it came from. */
    private long holdAll(DataDirectory directory) {
        database.catalogStore().keepOwed();
        database.journal().awaitAll();
        ManifestImage checkpoint = database.checkpoints().image();
        held.add(checkpoint);
        checkpoint.files().forEach(file -> files.add(file.in(DataDirectory.CHECKPOINTS)));
        HistoriesImage histories = database.histories().image();
        held.add(histories);
        histories.files().forEach(file -> files.add(file.in(DataDirectory.CHANGES)));
        for (RetainedStreams.StreamImage stream : database.retained().images()) { // the log has what is behind them
            held.add(stream.image());
            stream.image()
                    .files()
                    .forEach(file -> files.add(file.in(stream.directory()).in(DataDirectory.STREAMS)));
        }
        SinkImages sinks = new SinkImages(directory);
        held.add(sinks);
        files.addAll(sinks.files());
        LogImage rows = database.journal().image();
        held.add(rows);
        long asOfMicros = database.clock().epochMicros();
        rows.files().forEach(file -> files.add(file.in(DataDirectory.ROWS)));
        files.addAll(directory.image());
        return asOfMicros;
    }
}
