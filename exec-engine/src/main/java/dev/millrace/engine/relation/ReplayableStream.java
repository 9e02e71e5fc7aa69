package dev.millrace.engine.relation;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.task.SourceInput;
import dev.millrace.time.Clock;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A source, and what its readers reject.
 *
 * @param name of the stream
 */
public record ReplayableStream(String name, Source source, RejectedLog rejected) {
    private static final System.Logger LOG = System.getLogger(ReplayableStream.class.getPackageName());

    public boolean bounded() {
        return source.bounded();
    }

    /** Opens readers; {@code wakeUp} is called on any thread when one of them has more. */
    public List<SourceReader> open(
            ScanRequest request, BufferAllocator allocator, Clock clock, int batchRows, Runnable wakeUp) {
        return source.open(request, context(allocator, clock, batchRows, wakeUp));
    }

    /** Opens readers that go on from positions. */
    public List<SourceReader> reopen(
            ScanRequest request,
            List<SourcePosition> positions,
            BufferAllocator allocator,
            Clock clock,
            int batchRows,
            Runnable wakeUp) {
        return source.reopen(request, positions, context(allocator, clock, batchRows, wakeUp));
    }

    private SourceContext context(BufferAllocator allocator, Clock clock, int batchRows, Runnable wakeUp) {
        return new SourceContext() {
            @Override
            public BufferAllocator allocator() {
                return allocator;
            }

            @Override
            public Clock clock() {
                return clock;
            }

            @Override
            public int batchRows() {
                return batchRows;
            }

            @Override
            public void wakeUp() {
                wakeUp.run();
            }

            @Override
            public void reject(RejectedRecord record) {
                rejected.add(record, SourceInput.notesOfPoll());
            }

            @Override
            public boolean failsOfRejected() {
                return rejected.isFailing();
            }

            @Override
            public void report(RejectedRecord record) {
                if (rejected.report(record)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "stream \"" + name + "\": " + record.origin() + ": " + record.reason());
                }
            }
        };
    }
}
