package dev.millrace.connector;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** What is lent to a sink for as long as it is open. Safe on any thread. */
public interface SinkContext {
    /** Has the memory of all sinks: a sink makes a child of its own, and closes that. */
    BufferAllocator allocator();

    Clock clock();

    /** The sink's name, for users: in messages, not in what outlives it. */
    String name();

    /** What of the sink outlives the process; empty where nothing does, as there is no data directory. */
    Optional<SinkHome> home();

    /**
     * The home of a sink that cannot do without.
     *
     * @param what needs it, such as {@code delivery = 'exactly_once'}
     * @throws MillraceException 55000 if there is none
     */
    default SinkHome requireHome(String what) {
        return home().orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        what + " of sink \"" + name()
                                + "\" needs a data directory: without one nothing outlives a crash")
                .withHint("start with --data DIR, or leave the option out: rows are written at least once"));
    }
}
