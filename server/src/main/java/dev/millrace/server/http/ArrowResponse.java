package dev.millrace.server.http;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.IpcColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/** Makes Arrow's IPC stream of an answer, piece by piece: the schema, a record batch per batch, the end. */
final class ArrowResponse {
    static final String TYPE = "application/vnd.apache.arrow.stream";

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final WriteChannel channel = new WriteChannel(Channels.newChannel(bytes));

    private interface Part {
        void write() throws IOException;
    }

    byte[] begin(Schema schema) {
        return bytes(() -> MessageSerializer.serialize(channel, IpcColumns.schema(schema)));
    }

    /** The batch stays the caller's, and has no weights. */
    byte[] rows(Batch batch) {
        List<FieldVector> columns =
                IntStream.range(0, batch.columnCount()).mapToObj(batch::column).toList();
        try (IpcColumns output = new IpcColumns(batch.schema(), columns, batch.rowCount())) {
            VectorSchemaRoot root = new VectorSchemaRoot(
                    output.columns().stream().map(FieldVector::getField).toList(),
                    output.columns(),
                    batch.rowCount()); // never closed: it owns nothing
            try (ArrowRecordBatch record = new VectorUnloader(root).getRecordBatch()) {
                return bytes(() -> MessageSerializer.serialize(channel, record));
            }
        }
    }

    byte[] end() {
        return bytes(() -> ArrowStreamWriter.writeEndOfStream(channel, new IpcOption()));
    }

    private byte[] bytes(Part part) {
        try {
            part.write();
        } catch (IOException e) {
            throw MillraceException.internal("cannot write Arrow: " + e.getMessage(), e);
        }
        byte[] made = bytes.toByteArray();
        bytes.reset();
        return made;
    }
}
