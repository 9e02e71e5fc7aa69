package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.text.IpcColumns;
import dev.millrace.connectors.directory.PartFile;
import dev.millrace.connectors.directory.PartFormat;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/** Arrow IPC streams. */
final class ArrowParts implements PartFormat {
    private final Schema schema;
    private final BufferAllocator allocator = new RootAllocator();

    ArrowParts(Schema schema) {
        this.schema = schema;
    }

    @Override
    public String extension() {
        return "arrows";
    }

    @Override
    public boolean goesOn() {
        return false; // it has an end of its own
    }

    @Override
    public PartFile open(Path file, long length) {
        return new ArrowPart(file);
    }

    @Override
    public void close() {
        allocator.close();
    }

    private final class ArrowPart implements PartFile {
        private final Path file;
        private final FileChannel channel;
        private final WriteChannel out;

        ArrowPart(Path file) {
            this.file = file;
            try {
                channel = FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING);
            } catch (IOException e) {
                throw FileErrors.opening(file, "for writing", e);
            }
            out = new WriteChannel(channel);
            try {
                MessageSerializer.serialize(out, IpcColumns.schema(schema));
            } catch (IOException e) {
                close();
                throw FileErrors.writing(file, e);
            }
        }

        @Override
        public void write(Batch batch, int[] rows, int count) {
            List<FieldVector> copies = new ArrayList<>();
            try {
                for (int column = 0; column < batch.columnCount(); column++) {
                    FieldVector from = batch.column(column);
                    FieldVector copy = from.getField().createVector(allocator);
                    copies.add(copy);
                    for (int i = 0; i < count; i++) {
                        copy.copyFromSafe(rows[i], i, from);
                    }
                    copy.setValueCount(count);
                }
                try (IpcColumns output = new IpcColumns(schema, copies, count)) {
                    List<FieldVector> columns = output.columns();
                    VectorSchemaRoot root = new VectorSchemaRoot(
                            columns.stream().map(FieldVector::getField).toList(), columns, count); // owns nothing
                    try (ArrowRecordBatch record = new VectorUnloader(root).getRecordBatch()) {
                        MessageSerializer.serialize(out, record);
                    }
                }
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            } finally {
                Closing.all(copies);
            }
        }

        @Override
        public long bytes() {
            return out.getCurrentPosition();
        }

        @Override
        public long heldBytes() {
            return 0;
        }

        @Override
        public long force() {
            throw new UnsupportedOperationException("an Arrow file is on disk when it is complete");
        }

        @Override
        public long finish() {
            try {
                ArrowStreamWriter.writeEndOfStream(out, new IpcOption());
                channel.force(true);
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
            return bytes();
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
        }
    }
}
