package dev.millrace.server.session;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.memory.SpillSpace;
import dev.millrace.server.host.Host;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import dev.millrace.time.Clock;
import java.util.function.Consumer;

/** This process, but with logs in many small files. */
final class SmallFilesHost implements Host {
    private static final long SEGMENT_BYTES = 8 << 10;

    @Override
    public Engine engine(EngineOptions options, Clock clock, Journal journal, SpillSpace spill) {
        return PROCESS.engine(options, clock, journal, spill);
    }

    @Override
    public WriteAheadLog log(Disk disk, Consumer<String> events) {
        WriteAheadLogOptions standard = WriteAheadLogOptions.standard().withEvents(events);
        return WriteAheadLog.open(disk, standard.withSizes(SEGMENT_BYTES, standard.bufferBytes()));
    }

    @Override
    public boolean hasThreads() {
        return true;
    }

    @Override
    public long newestChangesBytes() {
        return PROCESS.newestChangesBytes();
    }

    @Override
    public void pause(long nanos) {
        PROCESS.pause(nanos);
    }
}
