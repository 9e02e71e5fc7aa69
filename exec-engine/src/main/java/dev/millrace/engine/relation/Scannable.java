package dev.millrace.engine.relation;

import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.view.View;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.Supplier;

/** What a scan reads. */
public sealed interface Scannable {
    Schema schema();

    /**
     * A relation whose rows come to all its readers at once.
     *
     * @param fanout through which they come
     * @param domain whose epochs they belong to, as of now
     * @param view what came before, if it is kept
     * @param onRoom to be called when a reader's channel is not full any more
     */
    record Feed(Schema schema, Fanout fanout, Supplier<EpochDomain> domain, Optional<View> view, Runnable onRoom)
            implements Scannable {}

    /** A source whose every reader begins at the first row. */
    record Replay(Schema schema, ReplayableStream stream) implements Scannable {}
}
