package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** Fails when it is first read, and has that happen as early as can be: a thread of its own wakes its reader all the time. */
record FailsAtOnce(Schema schema) implements Source {
    @Override
    public boolean bounded() {
        return false;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        Thread waking = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                context.wakeUp();
                Thread.onSpinWait();
            }
        });
        waking.start();
        return List.of(new SourceReader() {
            @Override
            public Optional<Batch> poll() {
                throw new IllegalStateException("it fails at once");
            }

            @Override
            public boolean isFinished() {
                return false;
            }

            @Override
            public long retryAfterMicros() {
                return 0;
            }

            @Override
            public void close() {
                waking.interrupt();
            }
        });
    }
}
