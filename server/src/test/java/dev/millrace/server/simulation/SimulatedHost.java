package dev.millrace.server.simulation;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.memory.SpillSpace;
import dev.millrace.server.host.Host;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import dev.millrace.time.Clock;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * A process of which everything happens on the thread of the simulation: tasks and timers of the engine by steps in an order that the seed
 * decides, and the log of rows between them, and when somebody waits for it.
 */
final class SimulatedHost implements Host {
    private static final long PAUSE_MILLIS = 7; // between two attempts of a log that fails

    private static final long WAIT_MILLIS = 10;

    private final SimulatedClock clock;
    private final Random random;
    private final List<WriteAheadLog> logs = new ArrayList<>(); // that were opened

    SimulatedHost(SimulatedClock clock, long seed) {
        this.clock = clock;
        this.random = new Random(seed);
    }

    /** Opens a database with one or two workers. */
    static Database open(DataPlace place, SimulatedClock clock, long seed) {
        return open(place, clock, seed, new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8));
    }

    /** The same with somebody who reads what is printed. */
    static Database open(DataPlace place, SimulatedClock clock, long seed, PrintStream printed) {
        Random random = new Random(seed);
        return Database.open(DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults()
                        .withWorkers(1 + random.nextInt(2))
                        .withMemoryLimitBytes(64L << 20))
                .withClock(clock)
                .withPrinted(printed)
                .withHost(new SimulatedHost(clock, random.nextLong()))
                .withData(place));
    }

    @Override
    public Engine engine(EngineOptions options, Clock ofOptions, Journal journal, SpillSpace spill) {
        spill.close(); // pages of mapped files are none of what a seed decides
        return Engine.stepped(
                options, clock, random.nextLong(), journal, this::writeLog, () -> clock.advanceMillis(WAIT_MILLIS));
    }

    private boolean writeLog() {
        logs.removeIf(WriteAheadLog::isClosed);
        boolean any = false;
        for (WriteAheadLog log : List.copyOf(logs)) {
            long pending = log.pendingBytes();
            if (pending > 0) {
                if (log.failure().isPresent()) {
                    clock.advanceMillis(PAUSE_MILLIS);
                }
                log.work();
                any |= log.pendingBytes() < pending || log.failure().isPresent(); // else its process has ended
            }
        }
        return any;
    }

    @Override
    public WriteAheadLog log(Disk disk, Consumer<String> events) {
        WriteAheadLogOptions options = WriteAheadLogOptions.standard()
                .withEvents(events)
                .withSizes(8192L << random.nextInt(4), 1 << 20)
                .simulated(clock, random::nextLong);
        WriteAheadLog log = WriteAheadLog.open(disk, options);
        logs.add(log);
        return log;
    }

    @Override
    public void pause(long nanos) {
        clock.advanceMillis(1 + nanos / 1_000_000);
        clock.nanoTime(); // whoever waits for it is told
    }

    @Override
    public long newestChangesBytes() {
        return 200L << random.nextInt(6);
    }

    @Override
    public boolean hasThreads() {
        return false;
    }

    @Override
    public int queriesApart() {
        return 0;
    }
}
