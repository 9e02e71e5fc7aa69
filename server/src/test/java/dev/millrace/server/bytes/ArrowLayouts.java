package dev.millrace.server.bytes;

import com.google.flatbuffers.Struct;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.impl.UnionListWriter;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.IntervalUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;

/** Valid streams and files of Arrow's format, of random columns, with the places of what their headers and offsets say. */
final class ArrowLayouts {
    private static final List<ArrowType> TYPES = List.of(
            new ArrowType.Bool(),
            new ArrowType.Int(8, true),
            new ArrowType.Int(16, true),
            new ArrowType.Int(32, true),
            new ArrowType.Int(32, false),
            new ArrowType.Int(64, true),
            new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE),
            new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE),
            new ArrowType.Decimal(10, 2, 128),
            new ArrowType.Decimal(40, 2, 256),
            new ArrowType.Utf8(),
            new ArrowType.Utf8(),
            new ArrowType.Utf8(),
            new ArrowType.LargeUtf8(),
            new ArrowType.Utf8View(),
            new ArrowType.Binary(),
            new ArrowType.Date(DateUnit.DAY),
            new ArrowType.Date(DateUnit.MILLISECOND),
            new ArrowType.Time(TimeUnit.MICROSECOND, 64),
            new ArrowType.Time(TimeUnit.SECOND, 32),
            new ArrowType.Timestamp(TimeUnit.MICROSECOND, null),
            new ArrowType.Timestamp(TimeUnit.SECOND, "UTC"),
            new ArrowType.Interval(IntervalUnit.MONTH_DAY_NANO),
            new ArrowType.FixedSizeBinary(16),
            new ArrowType.Null());

    private final BufferAllocator allocator;

    ArrowLayouts(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** @param names of the table's columns, to which those here go; the last is of type text[] */
    Layout random(Random random, List<String> names) throws Exception {
        List<FieldVector> columns = new ArrayList<>();
        int rows = random.nextInt(12);
        try {
            for (String name : names) {
                if (random.nextInt(3) == 0) {
                    columns.add(
                            rows > 0 && name.equals(names.get(names.size() - 1))
                                    ? lists(name, rows, random)
                                    : column(name, rows, random));
                }
            }
            if (columns.isEmpty()) {
                columns.add(column(names.get(0), rows, random));
            }
            return layout(write(columns, rows, random));
        } finally {
            columns.forEach(FieldVector::close);
        }
    }

    private FieldVector column(String name, int rows, Random random) {
        ArrowType type = TYPES.get(random.nextInt(TYPES.size()));
        FieldVector vector = new FieldType(true, type, null).createNewSingleVector(name, allocator, null);
        vector.setInitialCapacity(Math.max(1, rows));
        vector.allocateNew();
        for (int row = 0; row < rows; row++) {
            byte[] text = ("" + random.nextInt(1 << random.nextInt(20))).getBytes(StandardCharsets.US_ASCII);
            if (random.nextInt(5) == 0) {
                vector.setNull(row);
            } else if (vector instanceof VarCharVector texts) {
                texts.setSafe(row, text);
            } else if (vector instanceof LargeVarCharVector texts) {
                texts.setSafe(row, text);
            } else if (vector instanceof ViewVarCharVector texts) {
                texts.setSafe(row, random.nextBoolean() ? text : "0123456789012345678901234567890".getBytes());
            } else if (vector instanceof VarBinaryVector bytes) {
                bytes.setSafe(row, text);
            } else if (!(type instanceof ArrowType.Null)) {
                org.apache.arrow.vector.BitVectorHelper.setBit(vector.getValidityBuffer(), row);
                int bytes = ((org.apache.arrow.vector.BaseFixedWidthVector) vector).getTypeWidth();
                if (bytes > 0) {
                    vector.getDataBuffer().setByte((long) row * bytes, random.nextInt(60));
                    for (int i = 1; i < bytes; i++) {
                        vector.getDataBuffer().setByte((long) row * bytes + i, 0);
                    }
                }
            }
        }
        vector.setValueCount(rows);
        return vector;
    }

    private FieldVector lists(String name, int rows, Random random) {
        ListVector vector = new ListVector(name, allocator, new FieldType(true, ArrowType.List.INSTANCE, null), null);
        UnionListWriter writer = vector.getWriter();
        for (int row = 0; row < rows; row++) {
            writer.setPosition(row);
            writer.startList();
            for (int i = random.nextInt(4); i > 0; i--) {
                writer.varChar().writeVarChar("x" + i);
            }
            writer.endList();
        }
        vector.setValueCount(rows);
        return vector;
    }

    private static byte[] write(List<FieldVector> columns, int rows, Random random) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        VectorSchemaRoot root = new VectorSchemaRoot(columns);
        root.setRowCount(rows);
        try (ArrowWriter writer = random.nextInt(4) == 0
                ? new ArrowFileWriter(root, null, Channels.newChannel(out))
                : new ArrowStreamWriter(root, null, Channels.newChannel(out))) {
            writer.start();
            for (int batch = 1 + random.nextInt(2); batch > 0; batch--) {
                writer.writeBatch();
            }
            writer.end();
        }
        return out.toByteArray();
    }

    private static Layout layout(byte[] bytes) throws ReflectiveOperationException {
        Layout layout = new Layout(bytes);
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int at = bytes[0] == 'A' ? 8 : 0;
        while (at + 8 <= bytes.length && all.getInt(at) == -1) {
            int length = all.getInt(at + 4);
            layout.number(at, 4, ByteOrder.LITTLE_ENDIAN).number(at + 4, 4, ByteOrder.LITTLE_ENDIAN);
            if (length == 0) {
                break;
            }
            int header = at + 8;
            ByteBuffer own = all.slice(header, length).order(ByteOrder.LITTLE_ENDIAN);
            Message message = Message.getRootAsMessage(own);
            for (int word = 0; word + 4 <= length; word += 4 * (1 + length / 400)) {
                layout.number(header + word, 4, ByteOrder.LITTLE_ENDIAN); // offsets and types of the header itself
            }
            if (message.headerType() == MessageHeader.RecordBatch) {
                batch(layout, (RecordBatch) message.header(new RecordBatch()), header, header + length);
            }
            at = (int) (header + length + message.bodyLength());
        }
        return layout;
    }

    private static void batch(Layout layout, RecordBatch batch, int header, int body)
            throws ReflectiveOperationException {
        for (int i = 0; i < batch.nodesLength(); i++) {
            FieldNode node = batch.nodes(i);
            layout.number(header + place(node), 8, ByteOrder.LITTLE_ENDIAN);
            layout.number(header + place(node) + 8, 8, ByteOrder.LITTLE_ENDIAN);
        }
        for (int i = 0; i < batch.buffersLength(); i++) {
            Buffer buffer = batch.buffers(i);
            layout.number(header + place(buffer), 8, ByteOrder.LITTLE_ENDIAN);
            layout.number(header + place(buffer) + 8, 8, ByteOrder.LITTLE_ENDIAN);
            for (int word = 0; word + 4 <= buffer.length(); word += 4) { // offsets, most of them
                layout.number((int) (body + buffer.offset() + word), 4, ByteOrder.LITTLE_ENDIAN);
            }
        }
    }

    private static int place(Struct struct) throws ReflectiveOperationException {
        Field place = Struct.class.getDeclaredField("bb_pos");
        place.setAccessible(true);
        return place.getInt(struct);
    }
}
