package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.batch.text.IpcColumns;
import dev.millrace.connector.Sink;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/**
 * Writes an Arrow IPC stream, a record batch per batch: readable up to the last commit at any time. Where rows can be
 * retracted, the first column {@code op} is + or -, and a row of weight 2 is there twice.
 */
final class ArrowFileSink implements Sink {
    private static final Field OPERATION = new Field("op", DataType.TEXT, false);

    private final BufferAllocator allocator = new RootAllocator();
    private final Path path;
    private final boolean appendOnly;
    private final Schema written; // the columns of the file
    private final FileChannel channel;
    private final boolean regular;
    private final Optional<CommittedLength> length;
    private final org.apache.arrow.vector.ipc.WriteChannel out;
    private long committed;
    private boolean closed;

    /** @param length of the sink's own; empty where nothing of it outlives the process */
    ArrowFileSink(Path path, Schema schema, boolean appendOnly, Optional<CommittedLength> length) {
        this.path = path;
        this.length = length;
        this.appendOnly = appendOnly;
        this.regular = !Files.exists(path) || Files.isRegularFile(path);
        List<Field> fields = new ArrayList<>();
        if (!appendOnly) {
            fields.add(OPERATION);
        }
        fields.addAll(schema.fields());
        written = new Schema(fields);
        channel = CommittedFile.open(path, regular);
        out = new org.apache.arrow.vector.ipc.WriteChannel(channel);
        try {
            if (regular) {
                long size = channel.size();
                committed = length.map(own -> own.begins(size, 0)).orElse(0L);
                channel.truncate(committed);
                channel.position(committed);
            }
            if (committed == 0) {
                MessageSerializer.serialize(out, IpcColumns.schema(written));
                commit(0);
            }
        } catch (IOException e) {
            close();
            throw FileErrors.writing(path, e);
        }
    }

    @Override
    public void write(Batch batch) {
        List<FieldVector> vectors = new ArrayList<>(
                IntStream.range(0, batch.columnCount()).mapToObj(batch::column).toList());
        if (appendOnly) {
            write(vectors, batch.rowCount());
            return;
        }
        int[] rows = expanded(batch);
        List<FieldVector> owned = new ArrayList<>();
        try {
            owned.add(operations(batch, rows));
            for (FieldVector vector : vectors) {
                owned.add(copied(vector, rows));
            }
            write(owned, rows.length);
        } finally {
            owned.forEach(FieldVector::close);
        }
    }

    private void write(List<FieldVector> vectors, int rows) {
        try (IpcColumns output = new IpcColumns(written, vectors, rows)) {
            List<FieldVector> columns = output.columns();
            VectorSchemaRoot root = new VectorSchemaRoot(
                    columns.stream().map(FieldVector::getField).toList(), columns, rows); // owns nothing
            try (ArrowRecordBatch record = new VectorUnloader(root).getRecordBatch()) {
                MessageSerializer.serialize(out, record);
            }
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        }
    }

    /** Each row as often as its weight says. */
    private static int[] expanded(Batch batch) {
        long weights = batch.weightsAddress();
        return IntStream.range(0, batch.rowCount())
                .flatMap(row -> IntStream.generate(() -> row)
                        .limit(weights == 0 ? 1 : Math.abs(Memory.getLong(weights + 8L * row))))
                .toArray();
    }

    private FieldVector operations(Batch batch, int[] rows) {
        VarCharVector operations = (VarCharVector) Vectors.allocate(OPERATION, rows.length, rows.length, allocator);
        long weights = batch.weightsAddress();
        for (int i = 0; i < rows.length; i++) {
            boolean retracted = weights != 0 && Memory.getLong(weights + 8L * rows[i]) < 0;
            Memory.putByte(operations.getDataBufferAddress() + i, (byte) (retracted ? '-' : '+'));
            Memory.putInt(operations.getOffsetBufferAddress() + 4L * i + 4, i + 1);
        }
        Vectors.setAllValid(operations, rows.length);
        Vectors.finish(operations, rows.length);
        return operations;
    }

    private FieldVector copied(FieldVector vector, int[] rows) {
        FieldVector copy = vector.getField().createVector(allocator);
        for (int i = 0; i < rows.length; i++) {
            copy.copyFromSafe(rows[i], i, vector);
        }
        copy.setValueCount(rows.length);
        return copy;
    }

    @Override
    public void commit(long epoch) {
        try {
            if (regular) {
                committed = channel.position();
                length.ifPresent(own -> own.keep(committed));
            }
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (channel) {
            if (regular) {
                channel.truncate(committed);
                channel.position(committed);
                ArrowStreamWriter.writeEndOfStream(out, new org.apache.arrow.vector.ipc.message.IpcOption());
            }
        } catch (IOException e) {
            throw FileErrors.writing(path, e);
        } finally {
            allocator.close();
        }
    }
}
