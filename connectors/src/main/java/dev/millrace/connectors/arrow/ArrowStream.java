package dev.millrace.connectors.arrow;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Reads the batches of Arrow's IPC format from bytes that may say anything. The file form is read as the stream that it
 * holds; its footer is not needed. Lengths are held to the bytes that there are, headers to their bounds
 * ({@link ArrowMetadata}) before Arrow makes vectors of them, and contents by {@link ArrowContents} before a column is used.
 * Dictionaries are passed over. One thread; it owns its vectors.
 */
public final class ArrowStream implements AutoCloseable {
    private static final byte[] FILE_BEGIN = "ARROW1\0\0".getBytes(StandardCharsets.US_ASCII);
    private static final int CONTINUATION = -1;
    private static final int MOST_HEADER_BYTES = 64 << 20;
    private static final long MOST_BODY_BYTES = Integer.MAX_VALUE; // offsets of most types reach no farther
    private static final int PIECE_BYTES = 64 << 10;
    private static final long TRUSTED_BYTES = 1 << 20;

    private final InputStream in;
    private final BufferAllocator allocator;
    private final VectorSchemaRoot root;
    private final byte[] piece = new byte[PIECE_BYTES];
    private long bytesRead;
    private boolean ended;

    /** Reads the schema. The stream is closed by {@link #close}, or by its owner if this fails. */
    public ArrowStream(InputStream in, BufferAllocator allocator) throws IOException {
        this.in = in;
        this.allocator = allocator;
        byte[] begin = in.readNBytes(4);
        bytesRead = begin.length;
        if (Arrays.equals(begin, Arrays.copyOf(FILE_BEGIN, 4))) {
            byte[] rest = read(4);
            ArrowDamage.check(
                    Arrays.equals(rest, Arrays.copyOfRange(FILE_BEGIN, 4, 8)), "it begins like no Arrow file");
            begin = read(4);
        }
        ArrowDamage.check(begin.length == 4, "it has no schema");
        Schema schema = schema(
                header(ByteBuffer.wrap(begin).order(ByteOrder.LITTLE_ENDIAN).getInt()));
        try {
            this.root = VectorSchemaRoot.create(schema, allocator);
        } catch (OutOfMemoryException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new ArrowDamage("its schema has types that there are not");
        }
    }

    private static Schema schema(ByteBuffer header) throws ArrowDamage {
        ArrowDamage.check(header.hasRemaining(), "it has no schema");
        try {
            Message message = Message.getRootAsMessage(header);
            ArrowDamage.check(
                    message.headerType() == MessageHeader.Schema && message.bodyLength() == 0,
                    "it does not begin with a schema");
            org.apache.arrow.flatbuf.Schema schema =
                    (org.apache.arrow.flatbuf.Schema) message.header(new org.apache.arrow.flatbuf.Schema());
            return ArrowMetadata.schema(schema, header.capacity());
        } catch (RuntimeException e) { // out of the bounds of the header, or no name of a type
            throw new ArrowDamage("its schema is damaged");
        }
    }

    /** The columns; those in dictionary form are of their index's type. */
    public List<Field> fields() {
        return root.getSchema().getFields();
    }

    /** The vectors, which the next {@link #next()} fills again. */
    public VectorSchemaRoot root() {
        return root;
    }

    /** Bytes taken from the stream. */
    public long bytesRead() {
        return bytesRead;
    }

    /**
     * Reads the next batch; false at the end. Of its columns it is known that their buffers are as large as their rows need,
     * not what they hold.
     *
     * @throws ArrowDamage when the bytes are damaged
     * @throws OutOfMemoryException when the allocator has no room for them
     */
    public boolean next() throws IOException {
        root.clear();
        while (!ended) {
            byte[] begin = in.readNBytes(4);
            bytesRead += begin.length;
            if (begin.length == 0) {
                ended = true; // writers may leave the mark of the end out
                return false;
            }
            ArrowDamage.check(begin.length == 4, "it ends in the middle");
            ByteBuffer header =
                    header(ByteBuffer.wrap(begin).order(ByteOrder.LITTLE_ENDIAN).getInt());
            if (!header.hasRemaining()) {
                ended = true;
                return false;
            }
            if (load(header)) {
                return true;
            }
        }
        return false;
    }

    /** Reads the header of a message of which the first four bytes were read; empty at the end of the stream. */
    private ByteBuffer header(int begin) throws IOException {
        int length = begin;
        if (begin == CONTINUATION) {
            length = ByteBuffer.wrap(read(4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
        }
        ArrowDamage.check(length >= 0 && length <= MOST_HEADER_BYTES, "a header says that it has " + length + " bytes");
        return ByteBuffer.wrap(read(length));
    }

    private boolean load(ByteBuffer header) throws IOException {
        Message message;
        long bodyBytes;
        byte type;
        try {
            message = Message.getRootAsMessage(header);
            bodyBytes = message.bodyLength();
            type = message.headerType();
        } catch (RuntimeException e) {
            throw new ArrowDamage("a header is damaged");
        }
        ArrowDamage.check(
                bodyBytes >= 0 && bodyBytes <= MOST_BODY_BYTES, "a message says that it has " + bodyBytes + " bytes");
        if (type == MessageHeader.DictionaryBatch) {
            skip(bodyBytes);
            return false;
        }
        ArrowDamage.check(type == MessageHeader.RecordBatch, "a message is no batch");
        try (ArrowBuf body = body(bodyBytes)) {
            checkBatch(message, body);
            load(message, body);
            return true;
        }
    }

    private void checkBatch(Message message, ArrowBuf body) throws ArrowDamage {
        try {
            RecordBatch batch = (RecordBatch) message.header(new RecordBatch());
            ArrowMetadata.checkBatch(batch, root.getSchema(), body);
        } catch (RuntimeException e) {
            throw new ArrowDamage("the header of a batch is damaged");
        }
    }

    private void load(Message message, ArrowBuf body) throws IOException {
        try (ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(message, retained(body))) {
            new VectorLoader(root).load(batch);
        } catch (RuntimeException e) {
            root.clear();
            while (body.refCnt() > 1) { // what was made half of it
                body.getReferenceManager().release();
            }
            if (e instanceof OutOfMemoryException) {
                throw e;
            }
            throw new ArrowDamage("a batch is damaged"); // what Arrow's own checks found
        }
    }

    /** The batch releases what it was made of. */
    private static ArrowBuf retained(ArrowBuf body) {
        body.getReferenceManager().retain();
        return body;
    }

    /** Memory grows with the bytes that came, as their number may be invented. */
    private ArrowBuf body(long bytes) throws IOException {
        ArrowBuf body = allocator.buffer(Math.min(bytes, TRUSTED_BYTES));
        try {
            long read = 0;
            while (read < bytes) {
                int count = in.read(piece, 0, (int) Math.min(piece.length, bytes - read));
                ArrowDamage.check(count >= 0, "it ends in the middle");
                if (read + count > body.capacity()) {
                    ArrowBuf larger = allocator.buffer(Math.min(bytes, 2 * (read + count)));
                    larger.setBytes(0, body, 0, read);
                    body.close();
                    body = larger;
                }
                body.setBytes(read, piece, 0, count);
                read += count;
                bytesRead += count;
            }
            body.writerIndex(bytes);
            return body;
        } catch (IOException | RuntimeException | Error e) {
            body.close();
            throw e;
        }
    }

    private void skip(long bytes) throws IOException {
        for (long left = bytes; left > 0; ) {
            int count = in.read(piece, 0, (int) Math.min(piece.length, left));
            ArrowDamage.check(count >= 0, "it ends in the middle");
            left -= count;
            bytesRead += count;
        }
    }

    private byte[] read(int count) throws IOException {
        byte[] bytes = in.readNBytes(count); // takes memory for what there is, not for what is asked for
        bytesRead += bytes.length;
        ArrowDamage.check(bytes.length == count, "it ends in the middle");
        return bytes;
    }

    @Override
    public void close() {
        root.close();
        try {
            in.close();
        } catch (IOException e) {
            // reading is over; nothing can be lost
        }
    }
}
