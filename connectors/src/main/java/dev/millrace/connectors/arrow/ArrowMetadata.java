package dev.millrace.connectors.arrow;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Holds a stream's schema and the headers of its batches to their bounds before Arrow makes anything of them. Flatbuffers
 * may point anywhere within themselves, also at what another points at or at themselves, so that a few bytes could stand for
 * a tree without end: what a walk visits is counted, and more than the bytes could honestly hold is damage.
 */
final class ArrowMetadata {
    private static final int DEEPEST = 64;
    private static final int MOST_FIELDS = 100_000;
    private static final int SHARED = 8; // how often a text may stand for several, of writers that share them
    private static final int ROWS_WITHOUT_BYTES = 1 << 16; // of columns that take none
    private static final int BITS_PER_BYTE = 8;

    private long bytesLeft;
    private int fields;

    private ArrowMetadata(int bytes) {
        this.bytesLeft = (long) SHARED * bytes;
    }

    /** The schema of a stream; columns in dictionary form are of their index's type, with the mark that they are. */
    static Schema schema(org.apache.arrow.flatbuf.Schema schema, int bytes) throws ArrowDamage {
        ArrowDamage.check(schema.endianness() == 0, "its bytes are big-endian, which is not read");
        ArrowMetadata walk = new ArrowMetadata(bytes);
        walk.count(schema.fieldsLength());
        for (int i = 0; i < schema.fieldsLength(); i++) {
            walk.visit(schema.fields(i), 0);
        }
        for (int i = 0; i < schema.customMetadataLength(); i++) {
            walk.visit(schema.customMetadata(i));
        }
        List<Field> inMemory = new ArrayList<>();
        for (Field field : Schema.convertSchema(schema).getFields()) {
            inMemory.add(inMemory(field));
        }
        return new Schema(inMemory);
    }

    private void visit(org.apache.arrow.flatbuf.Field field, int depth) throws ArrowDamage {
        ArrowDamage.check(depth <= DEEPEST, "its types are nested more than " + DEEPEST + " levels deep");
        count(1 + field.childrenLength());
        if (field.nameAsByteBuffer() != null) {
            take(field.nameAsByteBuffer().remaining());
        }
        for (int i = 0; i < field.customMetadataLength(); i++) {
            visit(field.customMetadata(i));
        }
        for (int i = 0; i < field.childrenLength(); i++) {
            visit(field.children(i), depth + 1);
        }
    }

    private void visit(KeyValue pair) throws ArrowDamage {
        take(8);
        take(pair.keyAsByteBuffer() == null ? 0 : pair.keyAsByteBuffer().remaining());
        take(pair.valueAsByteBuffer() == null ? 0 : pair.valueAsByteBuffer().remaining());
    }

    private void count(int more) throws ArrowDamage {
        ArrowDamage.check(more >= 0 && more <= MOST_FIELDS - fields, "it has more than " + MOST_FIELDS + " columns");
        fields += more;
        take(4L * more);
    }

    private void take(long bytes) throws ArrowDamage {
        bytesLeft -= bytes;
        ArrowDamage.check(bytes >= 0 && bytesLeft >= 0, "its schema says more than its bytes hold");
    }

    private static Field inMemory(Field field) {
        List<Field> children = new ArrayList<>();
        DictionaryEncoding encoding = field.getDictionary();
        if (encoding == null) {
            field.getChildren().forEach(child -> children.add(inMemory(child)));
        }
        ArrowType type = encoding == null ? field.getType() : encoding.getIndexType();
        String name = field.getName() == null ? "" : field.getName(); // which the format leaves to the writer
        return new Field(name, new FieldType(field.isNullable(), type, encoding), children);
    }

    /**
     * Holds a batch's header to the schema and to the bytes that follow it; also the offsets of lists, by which Arrow would make
     * room for elements that are not there.
     */
    static void checkBatch(RecordBatch batch, Schema schema, ArrowBuf body) throws ArrowDamage {
        long bodyBytes = body.writerIndex();
        long rows = batch.length();
        ArrowDamage.check(batch.compression() == null, "its batches are compressed, which is not read");
        ArrowDamage.check(
                rows >= 0
                        && rows < Integer.MAX_VALUE
                        && (rows <= ROWS_WITHOUT_BYTES || rows / BITS_PER_BYTE <= bodyBytes),
                "a batch says that it has " + rows + " rows in " + bodyBytes + " bytes");
        checkBuffers(batch, bodyBytes);
        Layout layout = new Layout(batch, body);
        for (Field field : schema.getFields()) {
            layout.field(field, rows, true);
        }
        ArrowDamage.check(
                layout.node == batch.nodesLength() && layout.buffer == batch.buffersLength(),
                "a batch has other columns than the schema");
    }

    private static void checkBuffers(RecordBatch batch, long bodyBytes) throws ArrowDamage {
        long used = 0;
        for (int i = 0; i < batch.buffersLength(); i++) {
            Buffer buffer = batch.buffers(i);
            long from = buffer.offset();
            long length = buffer.length();
            ArrowDamage.check(
                    from >= 0 && length >= 0 && from <= bodyBytes && length <= bodyBytes - from,
                    "buffer " + i + " of a batch lies outside of it");
            if (length > 0) {
                ArrowDamage.check(from >= used, "buffer " + i + " of a batch overlaps the one before");
                used = from + length;
            }
        }
    }

    /** The nodes and buffers of one batch, taken in the order of the schema's fields. */
    private static final class Layout {
        private final RecordBatch batch;
        private final ArrowBuf body;
        private int node;
        private int buffer;
        private int views;

        Layout(RecordBatch batch, ArrowBuf body) {
            this.batch = batch;
            this.body = body;
        }

        /** @param rows how many its parent has; {@code exactly} so many, or at least */
        void field(Field field, long rows, boolean exactly) throws ArrowDamage {
            ArrowDamage.check(node < batch.nodesLength(), "a batch has fewer columns than the schema");
            FieldNode own = batch.nodes(node++);
            long length = own.length();
            ArrowDamage.check(
                    length < Integer.MAX_VALUE
                            && (exactly ? length == rows : length >= rows)
                            && own.nullCount() >= 0
                            && own.nullCount() <= length,
                    "a column of a batch says that it has " + length + " values and " + own.nullCount() + " NULLs");
            int first = buffer;
            buffers(field, own);
            long childRows = childRows(field.getType(), length, first + 1);
            for (Field child : field.getChildren()) {
                field(child, childRows, false);
            }
        }

        /** @param offsets the buffer that has them, if the type is one with offsets */
        private long childRows(ArrowType type, long length, int offsets) throws ArrowDamage {
            if (type instanceof ArrowType.Struct) {
                return length;
            }
            if (type instanceof ArrowType.List || type instanceof ArrowType.Map) {
                return end(offsets, length, Integer.BYTES);
            }
            if (type instanceof ArrowType.LargeList) {
                return end(offsets, length, Long.BYTES);
            }
            return type instanceof ArrowType.FixedSizeList list ? length * Math.max(0, list.getListSize()) : 0;
        }

        /** The last of a list's offsets, which do not go back. */
        private long end(int buffer, long length, int width) throws ArrowDamage {
            if (length == 0) {
                return 0;
            }
            long from = batch.buffers(buffer).offset();
            long last = 0;
            for (long i = 0; i <= length; i++) {
                long next = width == Integer.BYTES ? body.getInt(from + 4 * i) : body.getLong(from + 8 * i);
                ArrowDamage.check(next >= last, "the offsets of a list are out of order");
                last = next;
            }
            return last;
        }

        private void buffers(Field field, FieldNode own) throws ArrowDamage {
            ArrowType type = field.getType();
            long length = own.length();
            if (type instanceof ArrowType.Null) {
                return;
            }
            if (type instanceof ArrowType.Union union) {
                bytes(length);
                if (union.getMode() == org.apache.arrow.vector.types.UnionMode.Dense) {
                    bytes(4 * length);
                }
            } else if (!(type instanceof ArrowType.RunEndEncoded)) {
                bytes(own.nullCount() == 0 ? 0 : (length + 7) / BITS_PER_BYTE);
                behindValidity(type, length);
            }
        }

        private void behindValidity(ArrowType type, long length) throws ArrowDamage {
            if (type instanceof ArrowType.Utf8
                    || type instanceof ArrowType.Binary
                    || type instanceof ArrowType.List
                    || type instanceof ArrowType.Map) {
                bytes(length == 0 ? 0 : 4 * (length + 1));
            } else if (type instanceof ArrowType.LargeUtf8
                    || type instanceof ArrowType.LargeBinary
                    || type instanceof ArrowType.LargeList) {
                bytes(length == 0 ? 0 : 8 * (length + 1));
            } else if (type instanceof ArrowType.ListView) {
                bytes(4 * length);
                bytes(4 * length);
            } else if (type instanceof ArrowType.LargeListView) {
                bytes(8 * length);
                bytes(8 * length);
            }
            boolean texts = type instanceof ArrowType.Utf8
                    || type instanceof ArrowType.Binary
                    || type instanceof ArrowType.LargeUtf8
                    || type instanceof ArrowType.LargeBinary;
            if (texts) {
                bytes(0);
            } else if (type instanceof ArrowType.Utf8View || type instanceof ArrowType.BinaryView) {
                bytes(16 * length);
                ArrowDamage.check(views < batch.variadicBufferCountsLength(), "a batch misses buffers of views");
                long count = batch.variadicBufferCounts(views++);
                ArrowDamage.check(
                        count >= 0 && count <= batch.buffersLength() - buffer, "a batch misses buffers of views");
                buffer += (int) count;
            } else if (bits(type) > 0) {
                bytes((length * bits(type) + 7) / BITS_PER_BYTE); // each below 2^34
            }
        }

        /** Of one value of a type with values of one size; 0 for other types. */
        private static long bits(ArrowType type) {
            if (type instanceof ArrowType.Bool) {
                return 1;
            } else if (type instanceof ArrowType.Int integer) {
                return integer.getBitWidth();
            } else if (type instanceof ArrowType.FloatingPoint number) {
                return switch (number.getPrecision()) {
                    case HALF -> 16;
                    case SINGLE -> 32;
                    case DOUBLE -> 64;
                };
            } else if (type instanceof ArrowType.Decimal decimal) {
                return decimal.getBitWidth();
            } else if (type instanceof ArrowType.Date date) {
                return date.getUnit() == org.apache.arrow.vector.types.DateUnit.DAY ? 32 : 64;
            } else if (type instanceof ArrowType.Time time) {
                return time.getBitWidth();
            } else if (type instanceof ArrowType.Timestamp || type instanceof ArrowType.Duration) {
                return 64;
            } else if (type instanceof ArrowType.Interval interval) {
                return switch (interval.getUnit()) {
                    case YEAR_MONTH -> 32;
                    case DAY_TIME -> 64;
                    case MONTH_DAY_NANO -> 128;
                };
            }
            return type instanceof ArrowType.FixedSizeBinary binary
                    ? (long) BITS_PER_BYTE * Math.max(0, binary.getByteWidth())
                    : 0;
        }

        private void bytes(long least) throws ArrowDamage {
            ArrowDamage.check(buffer < batch.buffersLength(), "a batch has fewer buffers than its columns need");
            long length = batch.buffers(buffer++).length();
            ArrowDamage.check(
                    length >= least, "buffer " + (buffer - 1) + " of a batch has " + length + " bytes, not " + least);
        }
    }
}
