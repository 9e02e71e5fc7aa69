package dev.millrace.server.session;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.server.host.Host;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.time.Clock;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a database is opened.
 *
 * @param engine sizes of the engine: workers, memory
 * @param clock the time of epochs, of {@code now()} and of processing time
 * @param printed where sinks of the connector {@code print} write
 * @param host whose threads it runs on
 * @param data the directory that keeps all of it; none for a database that forgets all when closed
 * @param restoring is told how far opening is where there are definitions
 * @param early whether the database is there as soon as something of it can be read: see {@link #withEarlySessions}
 */
public record DatabaseOptions(
        EngineOptions engine,
        Clock clock,
        PrintStream printed,
        Host host,
        Optional<DataPlace> data,
        Restoring restoring,
        boolean early) {
    /** A worker per core, the machine's clock, standard output. */
    public static DatabaseOptions defaults() {
        return new DatabaseOptions(
                EngineOptions.defaults(),
                Clock.system(),
                System.out,
                Host.PROCESS,
                Optional.empty(),
                Restoring.UNTOLD,
                false);
    }

    public DatabaseOptions withWorkers(int workers) {
        return new DatabaseOptions(engine.withWorkers(workers), clock, printed, host, data, restoring, early);
    }

    public DatabaseOptions withEngine(EngineOptions newEngine) {
        return new DatabaseOptions(newEngine, clock, printed, host, data, restoring, early);
    }

    public DatabaseOptions withPrinted(PrintStream newPrinted) {
        return new DatabaseOptions(engine, clock, newPrinted, host, data, restoring, early);
    }

    public DatabaseOptions withData(Path directory) {
        return withData(DataPlace.of(directory));
    }

    public DatabaseOptions withData(DataPlace place) {
        return new DatabaseOptions(engine, clock, printed, host, Optional.of(place), restoring, early);
    }

    public DatabaseOptions withHost(Host newHost) {
        return new DatabaseOptions(engine, clock, printed, newHost, data, restoring, early);
    }

    public DatabaseOptions withClock(Clock newClock) {
        return new DatabaseOptions(engine, newClock, printed, host, data, restoring, early);
    }

    public DatabaseOptions withRestoring(Restoring newRestoring) {
        return new DatabaseOptions(engine, clock, printed, host, data, newRestoring, early);
    }

    /**
     * The database is there when its definitions are, and the rest is restored behind it: a statement waits for what it needs. Whoever opens it
     * calls {@link Database#awaitOpen}, and closes it if that fails: damage may be found as late as that. Without it all is there when
     * the database is.
     */
    public DatabaseOptions withEarlySessions() {
        return new DatabaseOptions(engine, clock, printed, host, data, restoring, true);
    }

    /** Is told how far opening a database is. Called by the thread that opens it; should return at once. */
    public interface Restoring {
        /** Nobody wants to know. */
        Restoring UNTOLD = new Restoring() {
            @Override
            public void restored(int done, int all) {}

            @Override
            public void cameAgain(long rows) {}
        };

        /** So many of all objects have been looked at. */
        void restored(int done, int all);

        /** So many rows behind the checkpoint were accepted once more. */
        void cameAgain(long rows);
    }
}
