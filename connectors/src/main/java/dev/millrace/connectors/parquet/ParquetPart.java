package dev.millrace.connectors.parquet;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.directory.PartFile;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;

/** One file: row groups of {@link #GROUP_BYTES}, of which the one under way is in memory. */
final class ParquetPart implements PartFile {
    private static final long GROUP_BYTES = 32 << 20;
    private static final int INDEX_BYTES = 64; // of the values in a column's index, the first ones
    private static final int STATISTICS_BYTES = 256; // of those in statistics

    private final Path file;
    private final MessageType message;
    private final List<ParquetColumn> columns;
    private final ParquetCompression compression;
    private final TextBuffer scratch;
    private final ParquetProperties properties = ParquetProperties.builder()
            .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_1_0)
            .build();
    private final ParquetFileWriter writer;
    private Optional<Group> group = Optional.empty();
    private boolean ended;

    /** The row group under way. */
    private final class Group implements AutoCloseable {
        private final ColumnChunkPageWriteStore pages = new ColumnChunkPageWriteStore(
                compression.compressor(), message, properties.getAllocator(), INDEX_BYTES, true);
        private final ColumnWriteStore store = properties.newColumnWriteStore(message, pages, pages);
        private final ColumnWriter[] writers =
                message.getColumns().stream().map(store::getColumnWriter).toArray(ColumnWriter[]::new);
        private long rows;

        void write(Batch batch, int row) {
            for (int column = 0; column < writers.length; column++) {
                columns.get(column).write(batch, row, writers[column], scratch);
            }
            store.endRecord();
            rows++;
        }

        void end() throws IOException {
            writer.startBlock(rows);
            store.flush();
            pages.flushToFileWriter(writer);
            writer.endBlock();
        }

        @Override
        public void close() {
            store.close();
            pages.close();
        }
    }

    ParquetPart(
            Path file,
            MessageType message,
            List<ParquetColumn> columns,
            ParquetCompression compression,
            TextBuffer scratch) {
        this.file = file;
        this.message = message;
        this.columns = columns;
        this.compression = compression;
        this.scratch = scratch;
        try {
            Files.deleteIfExists(file);
            writer = new ParquetFileWriter(
                    new LocalOutputFile(file),
                    message,
                    ParquetFileWriter.Mode.CREATE,
                    GROUP_BYTES,
                    0,
                    INDEX_BYTES,
                    STATISTICS_BYTES,
                    true);
            writer.start();
        } catch (IOException e) {
            throw FileErrors.opening(file, "for writing", e);
        }
    }

    @Override
    public void write(Batch batch, int[] rows, int count) {
        Group current = group.orElseGet(Group::new);
        group = Optional.of(current);
        for (int i = 0; i < count; i++) {
            current.write(batch, rows[i]);
        }
        if (current.store.getBufferedSize() >= GROUP_BYTES) {
            endGroup();
        }
    }

    private void endGroup() {
        if (group.isPresent()) {
            try (Group ends = group.get()) {
                ends.end();
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            } finally {
                group = Optional.empty();
            }
        }
    }

    @Override
    public long bytes() {
        try {
            return writer.getPos()
                    + group.map(under -> under.store.getBufferedSize()).orElse(0L);
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }

    @Override
    public long heldBytes() {
        return group.map(under -> under.store.getAllocatedSize()).orElse(0L);
    }

    @Override
    public long force() {
        throw new UnsupportedOperationException("a Parquet file is on disk when it is complete");
    }

    @Override
    public long finish() {
        endGroup();
        ended = true;
        try {
            writer.end(Map.of());
            try (FileChannel written = FileChannel.open(file, StandardOpenOption.WRITE)) {
                written.force(true);
                return written.size();
            }
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }

    @Override
    public void close() {
        group.ifPresent(Group::close);
        group = Optional.empty();
        if (!ended) {
            ended = true;
            try {
                writer.close();
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
        }
    }
}
