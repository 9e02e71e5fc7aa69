package dev.millrace.server.query;

import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Recovery;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.result.Progress;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Query;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The epochs that a session made by its writes, and waits for before it reads. Belongs to the session's thread. */
public final class OwnEpochs {
    private static final int MOST = 256;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private final Engine engine;
    private final Recovery recovery;
    private final PastReaders pastReaders;
    private final RowJournal journal;
    private final Map<String, TableKeys> tables;
    private final SessionSettings settings;
    private final Set<Long> epochs = new LinkedHashSet<>();
    private final Map<TableKeys, Accepted> untold =
            new LinkedHashMap<>(); // what it wrote last to tables and nobody was told of
    private long entry; // of the journal, the last that nobody waited for; 0 if there is none

    OwnEpochs(Instance database, SessionSettings settings, Consumer<Supplier<Optional<Progress>>> showProgress) {
        this.engine = database.engine();
        this.recovery = database.recovery();
        this.pastReaders = new PastReaders(database, showProgress);
        this.journal = database.journal();
        this.tables = database.tableKeys();
        this.settings = settings;
    }

    /** The session's rows were accepted: its next SELECT waits for them, and {@link #acknowledge} for their being on disk. */
    public void wrote(Accepted accepted) {
        wrote(accepted.epoch());
        entry = Math.max(entry, accepted.entry());
    }

    /** The same of rows of a table, for which readers of all sessions wait once the client hears of them. */
    public void wrote(TableKeys table, Accepted accepted) {
        wrote(accepted);
        untold.merge(
                table, accepted, (first, last) -> new Accepted(last.epoch(), Math.max(first.entry(), last.entry())));
    }

    /**
     * Before a client hears that what it wrote is there: waits until it is on disk, unless it set synchronous_commit off.
     *
     * @throws dev.millrace.error.MillraceException why the statement was stopped: what was written is in effect, is shown when it is on
     *     disk, and it is not known whether it will be
     */
    public void acknowledge() {
        journal.awaitDurable(takeEntry());
    }

    /** Whether the session can write once more, and wait for nothing. */
    public boolean hasRoom() {
        return epochs.size() < MOST;
    }

    /**
     * For who waits in another way than {@link #acknowledge} does.
     *
     * @return the entry of the journal to be on disk before a client hears of it; 0 if there is none
     */
    public long takeEntry() {
        boolean waits = settings.waitsForDisk();
        untold.forEach((table, accepted) -> table.tells(waits ? accepted : new Accepted(accepted.epoch(), 0)));
        untold.clear();
        long last = waits ? entry : 0;
        entry = 0;
        return last;
    }

    /** Waits until what the session wrote is on disk, whatever its settings say. */
    public void force() {
        journal.awaitDurable(entry);
        entry = 0;
    }

    /** The session made rows of this epoch: its next SELECT waits for it. Epochs of unrelated relations end in any order. */
    public void wrote(long epoch) {
        if (epochs.size() >= MOST) {
            awaitAll(); // nearly all ended long ago
        }
        epochs.add(epoch);
    }

    /** The epochs that the session made and nothing has waited for yet. */
    public Set<Long> all() {
        return epochs;
    }

    /** Whether there is nothing to wait for before rows of a relation are read. */
    boolean isNothingFor(String relation) {
        return epochs.isEmpty() && recovery.isOver() && pastReaders.isEmpty() && showsTold(relation, 0);
    }

    /** Whether a table shows what anybody was told is there, whoever wrote it, within so long. */
    private boolean showsTold(String relation, long mostNanos) {
        TableKeys table = tables.get(relation);
        if (table == null) {
            return true;
        }
        long told = table.toldEpoch(journal::isDurable);
        if (told == 0) {
            return true;
        }
        boolean shows = engine.awaitVisible(told, relation, mostNanos);
        if (shows) {
            table.showsAllUpTo(told);
        }
        return shows;
    }

    /** Waits until a table shows what anybody was told; while the disk fails for nothing, as what else is of that epoch may never be shown. */
    private void awaitTold(String relation) {
        boolean shows = showsTold(relation, 0);
        while (!shows && journal.failure().isEmpty()) {
            shows = showsTold(relation, LOOK_NANOS);
        }
    }

    /**
     * Before the rows of a query are read: waits until what the session wrote is in what it reads, what others were told is in tables, and
     * what came again when the database was opened.
     */
    void await(Query query) {
        recovery.await(query.relations());
        if (!query.relations().isEmpty() && settings.isOn(Setting.READ_YOUR_WRITES)) {
            epochs.removeIf(epoch -> engine.awaitEpoch(epoch, query.relations()));
            pastReaders.await(query.relations());
            query.relations().forEach(this::awaitTold);
        }
    }

    /** Waits until what the session wrote is in all answers, also in those that it does not read. */
    public void awaitAll() {
        epochs.forEach(engine::awaitEpoch);
        epochs.clear();
    }
}
