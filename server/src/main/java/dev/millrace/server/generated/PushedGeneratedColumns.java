package dev.millrace.server.generated;

import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/** {@link GeneratedColumns} of a source that is pushed to. */
public record PushedGeneratedColumns(PushedSource given, GeneratedColumns computed) implements PushedSource {
    @Override
    public Schema schema() {
        return computed.schema();
    }

    @Override
    public void check() {
        given.check();
    }

    @Override
    public PushedReader receive(PushedContext context) {
        PushedReader received = given.receive(context);
        try {
            List<Integer> all = IntStream.range(0, schema().size()).boxed().toList();
            SourceReader computing = computed.computing(
                            new ScanRequest(all, List.of(), 1),
                            context,
                            needed -> List.of(new SomeColumns(received, needed.columns(), given.schema())))
                    .get(0);
            return new Reader(received, computing);
        } catch (RuntimeException | Error e) {
            received.close();
            throw e;
        }
    }

    /** Some columns of a reader that gives all. */
    private record SomeColumns(PushedReader given, List<Integer> columns, Schema all) implements SourceReader {
        @Override
        public Optional<Batch> poll() {
            return given.poll()
                    .map(batch -> Batch.view(
                            all.select(columns),
                            columns.stream().map(batch::column).toArray(FieldVector[]::new),
                            batch.rowCount(),
                            Optional.empty(),
                            List.of(batch)));
        }

        @Override
        public boolean isFinished() {
            return given.isFinished();
        }

        @Override
        public long retryAfterMicros() {
            return given.retryAfterMicros();
        }

        @Override
        public void close() {
            given.close();
        }
    }

    /** What is polled is computed; all else is the given reader's. */
    private record Reader(PushedReader given, SourceReader computing) implements PushedReader {
        @Override
        public Optional<Batch> poll() {
            return computing.poll();
        }

        @Override
        public boolean isFinished() {
            return given.isFinished();
        }

        @Override
        public long retryAfterMicros() {
            return given.retryAfterMicros();
        }

        @Override
        public MemoryChange remembered() {
            return given.remembered();
        }

        @Override
        public void acknowledge(long batches) {
            given.acknowledge(batches);
        }

        @Override
        public void dropped() {
            given.dropped();
        }

        @Override
        public List<SplitStatus> splits() {
            return given.splits();
        }

        @Override
        public void close() {
            computing.close(); // and with it what it reads
        }
    }
}
