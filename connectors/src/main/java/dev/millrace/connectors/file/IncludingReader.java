package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows of a reader with where each is from. */
final class IncludingReader implements FileRows {
    private final FileRows reader;
    private final IncludingFormat format;
    private final List<Integer> requested;
    private final BufferAllocator allocator;

    IncludingReader(FileRows reader, IncludingFormat format, List<Integer> requested, BufferAllocator allocator) {
        this.reader = reader;
        this.format = format;
        this.requested = List.copyOf(requested);
        this.allocator = allocator;
    }

    @Override
    public Optional<Batch> poll() {
        return reader.poll().map(this::including);
    }

    private Batch including(Batch batch) {
        List<AutoCloseable> owned = new ArrayList<>();
        owned.add(batch);
        try {
            String name = file().toString();
            FileTime modified = modified(file());
            FieldVector[] vectors = new FieldVector[requested.size()];
            int next = 0; // of the batch
            for (int i = 0; i < vectors.length; i++) {
                int column = requested.get(i) - format.given().size();
                if (column < 0) {
                    vectors[i] = batch.column(next++);
                } else {
                    vectors[i] = format.included()
                            .get(column)
                            .vector(
                                    batch.rowCount(),
                                    row -> new IncludedColumns.Origin(name, line(row), modified),
                                    allocator);
                    owned.add(vectors[i]);
                }
            }
            return Batch.view(format.schema().select(requested), vectors, batch.rowCount(), batch.weights(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    private static FileTime modified(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            throw FileErrors.reading(file, e);
        }
    }

    @Override
    public Path file() {
        return reader.file();
    }

    @Override
    public long line(int row) {
        return reader.line(row);
    }

    @Override
    public boolean isFinished() {
        return reader.isFinished();
    }

    @Override
    public long retryAfterMicros() {
        return reader.retryAfterMicros();
    }

    @Override
    public Part part() {
        return reader.part();
    }

    @Override
    public double progress() {
        return reader.progress();
    }

    @Override
    public Optional<SourcePosition> position() {
        return reader.position();
    }

    @Override
    public Optional<ScanCounts> counts() {
        return reader.counts();
    }

    @Override
    public void close() {
        reader.close();
    }
}
