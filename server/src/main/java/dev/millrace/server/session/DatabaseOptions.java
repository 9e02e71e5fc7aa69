package dev.millrace.server.session;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.time.Clock;
import java.io.PrintStream;

/**
 * How a database is opened.
 *
 * @param engine sizes of the engine: workers, memory
 * @param clock the time of epochs, of {@code now()} and of processing time
 * @param printed where sinks of the connector {@code print} write
 */
public record DatabaseOptions(EngineOptions engine, Clock clock, PrintStream printed) {
    /** A worker per core, the machine's clock, standard output. */
    public static DatabaseOptions defaults() {
        return new DatabaseOptions(EngineOptions.defaults(), Clock.system(), System.out);
    }

    public DatabaseOptions withWorkers(int workers) {
        return new DatabaseOptions(engine.withWorkers(workers), clock, printed);
    }

    public DatabaseOptions withEngine(EngineOptions newEngine) {
        return new DatabaseOptions(newEngine, clock, printed);
    }

    public DatabaseOptions withPrinted(PrintStream newPrinted) {
        return new DatabaseOptions(engine, clock, newPrinted);
    }

    public DatabaseOptions withClock(Clock newClock) {
        return new DatabaseOptions(engine, newClock, printed);
    }
}
