package dev.millrace.server.query;

import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Recovery;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.result.Progress;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Query;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The epochs that a session made by its writes, and waits for before it reads. Belongs to the session's thread. */
public final class OwnEpochs {
    private static final int MOST = 256;
    private static final Set<String> WITHOUT_WAITING = Set.of("off", "false");

    private final Engine engine;
    private final Recovery recovery;
    private final PastReaders pastReaders;
    private final RowJournal journal;
    private final SessionSettings settings;
    private final Set<Long> epochs = new LinkedHashSet<>();
    private long entry; // of the journal, the last that nobody waited for; 0 if there is none

    OwnEpochs(Instance database, SessionSettings settings, Consumer<Supplier<Optional<Progress>>> showProgress) {
        this.engine = database.engine();
        this.recovery = database.recovery();
        this.pastReaders = new PastReaders(database, showProgress);
        this.journal = database.journal();
        this.settings = settings;
    }

    /** The session's rows were accepted: its next SELECT waits for them, and {@link #acknowledge} for their being on disk. */
    public void wrote(Accepted accepted) {
        wrote(accepted.epoch());
        entry = Math.max(entry, accepted.entry());
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
        long last = isAcknowledgedFirst() ? 0 : entry;
        entry = 0;
        return last;
    }

    private boolean isAcknowledgedFirst() {
        return WITHOUT_WAITING.contains(settings.get(Setting.SYNCHRONOUS_COMMIT));
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

    /** Whether there is nothing to wait for before rows are read. */
    boolean isEmpty() {
        return epochs.isEmpty() && recovery.isOver() && pastReaders.isEmpty();
    }

    /**
     * Before the rows of a query are read: waits until what the session wrote is in what it reads, and what came again when the
     * database was opened.
     */
    void await(Query query) {
        recovery.await(query.relations());
        if (!query.relations().isEmpty() && settings.isOn(Setting.READ_YOUR_WRITES)) {
            epochs.removeIf(epoch -> engine.awaitEpoch(epoch, query.relations()));
            pastReaders.await(query.relations());
        }
    }

    /** Waits until what the session wrote is in all answers, also in those that it does not read. */
    public void awaitAll() {
        epochs.forEach(engine::awaitEpoch);
        epochs.clear();
    }
}
