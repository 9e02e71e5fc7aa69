package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A source that does what a list says: a list of rows is a batch, a {@link Pause} an empty poll, a
 * {@link RejectedRecord} is rejected, an exception thrown. Steps are dealt to the readers in turn.
 */
final class ScriptedSource implements Source {
    /** Nothing at hand for so long. */
    record Pause(long micros) {}

    private final Schema schema;
    private final boolean replayable;
    private final boolean bounded;
    private final List<Object> script;
    final AtomicInteger openReaders = new AtomicInteger();

    ScriptedSource(Schema schema, boolean replayable, boolean bounded, List<?> script) {
        this.schema = schema;
        this.replayable = replayable;
        this.bounded = bounded;
        this.script = new ArrayList<>(script);
    }

    static ScriptedSource bounded(Schema schema, List<?> script) {
        return new ScriptedSource(schema, true, true, script);
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public boolean bounded() {
        return bounded;
    }

    @Override
    public boolean replayable() {
        return replayable;
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<SourceReader> readers =
                open(new ScanRequest(request.columns(), request.predicates(), positions.size()), context);
        for (int i = 0; i < readers.size(); i++) {
            ((Reader) readers.get(i)).next = positions.get(i).read("script", 1, DataInput::readInt);
        }
        return readers;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        List<SourceReader> readers = new ArrayList<>();
        for (int reader = 0; reader < request.parallelism(); reader++) {
            List<Object> mine = new ArrayList<>();
            for (int step = reader; step < script.size(); step += request.parallelism()) {
                mine.add(script.get(step));
            }
            readers.add(new Reader(mine, request, context));
            openReaders.incrementAndGet();
        }
        return readers;
    }

    private final class Reader implements SourceReader {
        private final List<Object> steps;
        private final ScanRequest request;
        private final SourceContext context;
        private int next;
        private long retryAfterMicros = 1_000;
        private boolean closed;

        Reader(List<Object> steps, ScanRequest request, SourceContext context) {
            this.steps = steps;
            this.request = request;
            this.context = context;
        }

        @Override
        public Optional<Batch> poll() {
            while (next < steps.size()) {
                Object step = steps.get(next++);
                if (step instanceof Pause pause) {
                    retryAfterMicros = pause.micros;
                    return Optional.empty();
                }
                if (step instanceof RejectedRecord record) {
                    context.reject(record);
                } else if (step instanceof RuntimeException failure) {
                    throw failure;
                } else {
                    List<Row> rows = new ArrayList<>();
                    for (Object row : (List<?>) step) {
                        rows.add(new Row(
                                request.columns().stream().map(((Row) row)::get).toList()));
                    }
                    return Optional.of(TestBatches.of(schema.select(request.columns()), context.allocator(), rows));
                }
            }
            return Optional.empty();
        }

        @Override
        public boolean isFinished() {
            return bounded && next == steps.size();
        }

        @Override
        public long retryAfterMicros() {
            return retryAfterMicros;
        }

        @Override
        public double progress() {
            return bounded ? (double) next / Math.max(1, steps.size()) : -1;
        }

        @Override
        public Optional<SourcePosition> position() {
            return replayable
                    ? Optional.of(SourcePosition.of("script", 1, out -> out.writeInt(next)))
                    : Optional.empty();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                openReaders.decrementAndGet();
            }
        }
    }
}
