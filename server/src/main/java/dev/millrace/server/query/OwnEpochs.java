package dev.millrace.server.query;

import dev.millrace.engine.runtime.Engine;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Query;
import java.util.LinkedHashSet;
import java.util.Set;

/** The epochs that a session made by its writes, and waits for before it reads. Belongs to the session's thread. */
public final class OwnEpochs {
    private static final int MOST = 256;

    private final Engine engine;
    private final SessionSettings settings;
    private final Set<Long> epochs = new LinkedHashSet<>();

    OwnEpochs(Engine engine, SessionSettings settings) {
        this.engine = engine;
        this.settings = settings;
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

    boolean isEmpty() {
        return epochs.isEmpty();
    }

    /** Before the rows of a query are read: waits until what the session wrote is in what it reads. */
    void await(Query query) {
        if (!query.relations().isEmpty() && settings.isOn(Setting.READ_YOUR_WRITES)) {
            epochs.removeIf(epoch -> engine.awaitEpoch(epoch, query.relations()));
        }
    }

    /** Waits until what the session wrote is in all answers, also in those that it does not read. */
    public void awaitAll() {
        epochs.forEach(engine::awaitEpoch);
        epochs.clear();
    }
}
