package dev.millrace.sketch.materialise;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows of a sketch straight into Arrow's buffers. Times become microseconds, rounded down. Stateless. */
public final class ArrowOutput {
    private ArrowOutput() {}

    /** The schema of batches: the time, then the features. */
    public static Schema schema(SketchSchema schema) {
        List<Field> fields = new ArrayList<>();
        fields.add(new Field(schema.timeName(), DataType.TIMESTAMP, false));
        schema.features().forEach(feature -> fields.add(new Field(feature.name(), feature.type(), true)));
        return new Schema(fields);
    }

    /** One feature of all rows, in a vector of its type; the caller's. */
    public static FieldVector feature(Sketch sketch, int feature, BufferAllocator allocator) {
        Feature of = sketch.schema().feature(feature);
        return column(
                sketch.column(feature),
                of,
                new Field(of.name(), of.type(), true),
                new int[0],
                sketch.rows(),
                allocator);
    }

    static Batch all(Sketch sketch, BufferAllocator allocator) {
        return write(sketch, allColumns(sketch), sketch.rows(), new int[0], allocator);
    }

    /** All rows, of some columns of {@link #schema}, or {@link ErrorColumns} of it. */
    public static Batch columns(Sketch sketch, List<Integer> columns, BufferAllocator allocator) {
        return write(sketch, columns, sketch.rows(), new int[0], allocator);
    }

    private static List<Integer> allColumns(Sketch sketch) {
        return IntStream.rangeClosed(0, sketch.schema().size()).boxed().toList();
    }

    /** Some rows, in the order given. */
    static Batch rows(Sketch sketch, int[] rows, BufferAllocator allocator) {
        return write(sketch, allColumns(sketch), rows.length, rows, allocator);
    }

    private static Batch write(
            Sketch sketch, List<Integer> columns, int count, int[] chosen, BufferAllocator allocator) {
        Schema all = schema(sketch.schema());
        Schema schema = ErrorColumns.select(all, columns);
        FieldVector[] vectors = new FieldVector[schema.size()];
        boolean done = false;
        try {
            for (int i = 0; i < vectors.length; i++) {
                int f = columns.get(i) - 1;
                if (ErrorColumns.isOne(all, columns.get(i))) {
                    double error = SketchErrors.of(sketch, ErrorColumns.subject(all, columns.get(i)) - 1);
                    vectors[i] = SketchErrors.vector(schema.field(i), error, count, allocator);
                } else {
                    vectors[i] = f < 0
                            ? times(sketch, chosen, schema.field(i), count, allocator)
                            : column(
                                    sketch.column(f),
                                    sketch.schema().feature(f),
                                    schema.field(i),
                                    chosen,
                                    count,
                                    allocator);
                }
            }
            done = true;
            return Batch.of(schema, vectors, count);
        } finally {
            for (int i = 0; !done && i < vectors.length; i++) {
                if (vectors[i] != null) {
                    vectors[i].close();
                }
            }
        }
    }

    private static FieldVector times(Sketch sketch, int[] chosen, Field field, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        writeTimes(sketch, chosen, vector.getDataBufferAddress(), count);
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    private static void writeTimes(Sketch sketch, int[] chosen, long data, int count) {
        long perSecond = sketch.schema().ticksPerSecond();
        long[] ticks = new long[sketch.rows()];
        sketch.times().copy(0, ticks);
        for (int i = 0; i < count; i++) {
            long tick = ticks[chosen.length == 0 ? i : chosen[i]];
            Memory.putLong(data + 8L * i, micros(tick, perSecond));
        }
    }

    /** A time in microseconds, rounded down. */
    public static long micros(long tick, long perSecond) {
        if (perSecond == SketchSchema.MICROS_PER_SECOND) {
            return tick;
        }
        BigInteger micros = BigInteger.valueOf(Math.floorMod(tick, perSecond))
                .multiply(BigInteger.valueOf(SketchSchema.MICROS_PER_SECOND))
                .divide(BigInteger.valueOf(perSecond));
        try {
            return Math.addExact(
                    Math.multiplyExact(Math.floorDiv(tick, perSecond), SketchSchema.MICROS_PER_SECOND),
                    micros.longValueExact());
        } catch (ArithmeticException e) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW,
                    "the time " + tick + " of " + perSecond + " ticks a second is no timestamp");
        }
    }

    private static FieldVector column(
            Column column, Feature feature, Field field, int[] chosen, int count, BufferAllocator allocator) {
        if (feature.kind() == Feature.Kind.TEXT) {
            return texts(column, field, ranks(column, chosen), count, allocator);
        }
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        int width = field.type().fixedWidth();
        long[] bits = symbolBits(column.numbers(), field.type());
        if (chosen.length == 0 && column.sequence().inRuns()) {
            fillRuns(column.sequence().runs(), bits, data, width);
        } else {
            int[] ranks = ranks(column, chosen);
            switch (width) {
                case 8 -> {
                    for (int i = 0; i < count; i++) {
                        Memory.putLong(data + 8L * i, bits[ranks[i]]);
                    }
                }
                case 4 -> {
                    for (int i = 0; i < count; i++) {
                        Memory.putInt(data + 4L * i, (int) bits[ranks[i]]);
                    }
                }
                case 2 -> {
                    for (int i = 0; i < count; i++) {
                        Memory.putShort(data + 2L * i, (short) bits[ranks[i]]);
                    }
                }
                default -> {
                    Memory.fill(data, (count + 7) >> 3, (byte) 0);
                    for (int i = 0; i < count; i++) {
                        if (bits[ranks[i]] != 0) {
                            Memory.setBit(data, i);
                        }
                    }
                }
            }
        }
        validity(vector, column, chosen, count);
        Vectors.finish(vector, count);
        return vector;
    }

    private static int[] ranks(Column column, int[] chosen) {
        int[] all = column.sequence().ranks();
        if (chosen.length == 0) {
            return all;
        }
        int[] some = new int[chosen.length];
        for (int i = 0; i < some.length; i++) {
            some[i] = all[chosen[i]];
        }
        return some;
    }

    /** The bits of each symbol in a vector of a type, and 0 for NULL. */
    public static long[] symbolBits(NumberSymbols symbols, DataType type) {
        long[] bits = new long[symbols.size() + 1];
        boolean real = type.kind() == DataType.Kind.REAL;
        if (real || type.kind() == DataType.Kind.DOUBLE) {
            double[] values = symbols.values();
            for (int rank = 0; rank < values.length; rank++) {
                bits[rank] =
                        real ? Float.floatToRawIntBits((float) values[rank]) : Double.doubleToRawLongBits(values[rank]);
            }
        } else {
            for (int rank = 0; rank < bits.length - 1; rank++) {
                bits[rank] = within(type, symbols.whole(rank));
            }
        }
        return bits;
    }

    /** A whole number as its type shows it: the middle of a bin may lie where the type ends; what is in it does not. */
    public static long within(DataType type, long whole) {
        return Math.max(low(type), Math.min(high(type), whole));
    }

    private static long low(DataType type) {
        return switch (type.kind()) {
            case SMALLINT -> Short.MIN_VALUE;
            case INTEGER, DATE -> Integer.MIN_VALUE;
            default -> Long.MIN_VALUE;
        };
    }

    private static long high(DataType type) {
        return ~low(type);
    }

    private static void fillRuns(Sequence.Runs runs, long[] bits, long data, int width) {
        int from = 0;
        for (int r = 0; r < runs.count(); r++) {
            long value = bits[runs.ranks()[r]];
            int to = runs.ends()[r];
            for (int i = from; width == 8 && i < to; i++) {
                Memory.putLong(data + 8L * i, value);
            }
            for (int i = from; width == 4 && i < to; i++) {
                Memory.putInt(data + 4L * i, (int) value);
            }
            for (int i = from; width == 2 && i < to; i++) {
                Memory.putShort(data + 2L * i, (short) value);
            }
            for (int i = from; width == 0 && i < to; i++) {
                if (value != 0) {
                    Memory.setBit(data, i);
                } else {
                    Memory.clearBit(data, i);
                }
            }
            from = to;
        }
    }

    private static void validity(FieldVector vector, Column column, int[] chosen, int count) {
        Vectors.setAllValid(vector, count);
        if (column.nullCount() > 0) {
            int nullRank = column.symbols().size();
            int[] ranks = ranks(column, chosen);
            long address = vector.getValidityBufferAddress();
            for (int i = 0; i < count; i++) {
                if (ranks[i] == nullRank) {
                    Memory.clearBit(address, i);
                }
            }
        }
    }

    /** The bytes of each text in a vector, by rank. */
    public static byte[][] encoded(TextSymbols symbols) {
        byte[][] encoded = new byte[symbols.size()][];
        Arrays.setAll(encoded, rank -> symbols.text(rank).getBytes(StandardCharsets.UTF_8));
        return encoded;
    }

    private static FieldVector texts(Column column, Field field, int[] ranks, int count, BufferAllocator allocator) {
        TextSymbols symbols = (TextSymbols) column.symbols();
        byte[][] encoded = Arrays.copyOf(encoded(symbols), symbols.size() + 1);
        encoded[symbols.size()] = new byte[0]; // of NULL
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += encoded[ranks[i]].length;
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
        long offsets = vector.getOffsetBufferAddress();
        long data = vector.getDataBufferAddress();
        int at = 0;
        for (int i = 0; i < count; i++) {
            byte[] text = encoded[ranks[i]];
            Memory.copyIn(text, 0, data + at, text.length);
            at += text.length;
            Memory.putInt(offsets + 4L * (i + 1), at);
        }
        Vectors.setAllValid(vector, count);
        long validity = vector.getValidityBufferAddress();
        for (int i = 0; i < count; i++) {
            if (ranks[i] == symbols.size()) {
                Memory.clearBit(validity, i);
            }
        }
        Vectors.finish(vector, count);
        return vector;
    }
}
