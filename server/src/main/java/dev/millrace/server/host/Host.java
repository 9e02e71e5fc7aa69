package dev.millrace.server.host;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.memory.SpillSpace;
import dev.millrace.server.group.QueryGroups;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import dev.millrace.time.Clock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** What a database runs on, made once for each that is opened. Called by the thread that opens it. */
public interface Host {
    /** This process: workers, the log and work in the background have threads of their own. */
    Host PROCESS = new Host() {
        @Override
        public Engine engine(EngineOptions options, Clock clock, Journal journal, SpillSpace spill) {
            return Engine.open(options, clock, journal, spill);
        }

        @Override
        public WriteAheadLog log(Disk disk, Consumer<String> events) {
            return WriteAheadLog.open(disk, WriteAheadLogOptions.standard().withEvents(events));
        }

        @Override
        public boolean hasThreads() {
            return true;
        }

        @Override
        public void pause(long nanos) {
            LockSupport.parkNanos(nanos);
        }

        @Override
        public long newestChangesBytes() {
            return 16L << 20;
        }
    };

    /**
     * The engine, which the caller closes.
     *
     * @param spill where state may be that goes beyond the memory; the engine's
     */
    Engine engine(EngineOptions options, Clock clock, Journal journal, SpillSpace spill);

    /**
     * The log of rows, which the caller closes.
     *
     * @param events told when it fails and when it works again
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged; 53100 or 58030
     */
    WriteAheadLog log(Disk disk, Consumer<String> events);

    /** Whether what nobody waits for, as checkpoints, is done by threads of the database; else who has it does it. */
    boolean hasThreads();

    /** How many bytes of the newest changes of each query with subscriptions are kept, whoever has seen them. */
    long newestChangesBytes();

    /** How many queries of a form run by themselves, before the next share what runs them. The same whenever the database is opened. */
    default int queriesApart() {
        return QueryGroups.APART;
    }

    /** Returns after about this time, or earlier: for who tries again what the disk refused. On any thread. */
    void pause(long nanos);
}
