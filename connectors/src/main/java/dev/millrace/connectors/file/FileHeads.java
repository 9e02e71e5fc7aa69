package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.Part;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Looks at the beginnings of files for the event time of their first rows. Bad records there are passed over in silence: whoever
 * reads the file tells of them.
 */
final class FileHeads {
    /** How many batches a look may take; then the first event time is unknown. */
    private static final int MOST_BATCHES = 16;

    private static final int BATCH_ROWS = 256;

    /**
     * A file and the event time of its first row that has one: {@link Part#UNKNOWN} where none was found at its beginning,
     * {@link Part#NONE} where the whole file has none.
     */
    record Head(Path file, long firstMicros) {}

    private final FileFormat format;
    private final EventTime time;
    private final SourceContext context;

    FileHeads(FileFormat format, EventTime time, SourceContext context) {
        this.format = format;
        this.time = time;
        this.context = context;
    }

    /** In the order in which to read them: by their first event time, what is unknown before all, else as given. */
    List<Head> sorted(List<Path> files) {
        List<Head> heads = new ArrayList<>();
        for (Path file : files) {
            heads.add(new Head(file, firstMicros(file)));
        }
        heads.sort(Comparator.comparingLong(Head::firstMicros)); // stable
        return heads;
    }

    private long firstMicros(Path file) {
        try (SourceReader reader = format.open(
                        List.of(file), new ScanRequest(time.columns(), List.of(), 1), new Silent(context))
                .get(0)) {
            for (int batches = 0; batches < MOST_BATCHES; batches++) {
                Optional<Batch> next = reader.poll();
                if (next.isEmpty()) {
                    return reader.isFinished() ? Part.NONE : Part.UNKNOWN;
                }
                try (Batch batch = next.get()) {
                    OptionalLong first = time.first().apply(batch);
                    if (first.isPresent()) {
                        return first.getAsLong();
                    }
                }
            }
            return Part.UNKNOWN;
        } catch (MillraceException e) {
            return Part.UNKNOWN; // reading it tells what is wrong with it
        }
    }

    private record Silent(SourceContext context) implements SourceContext {
        @Override
        public BufferAllocator allocator() {
            return context.allocator();
        }

        @Override
        public Clock clock() {
            return context.clock();
        }

        @Override
        public int batchRows() {
            return Math.min(BATCH_ROWS, context.batchRows());
        }

        @Override
        public void wakeUp() {
            // nobody waits
        }

        @Override
        public void reject(RejectedRecord record) {
            // told when the file is read
        }
    }
}
