package dev.millrace.engine.statistic;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.OptionalDouble;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.datasketches.frequencies.LongsSketch;
import org.apache.datasketches.hll.HllSketch;
import org.apache.datasketches.kll.KllDoublesSketch;
import org.apache.datasketches.quantilescommon.QuantileSearchCriteria;

/**
 * What some thousand values of a column say of all of them, in some kilobytes: how many different ones there are
 * (HyperLogLog), where they lie (KLL), and which are frequent. One thread while it is filled; whoever reads it after that
 * may be several.
 */
public final class ColumnSketch {
    private static final int LG_REGISTERS = 11;
    private static final int FREQUENT = 256; // slots, a power of two; three quarters of them hold values
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final DataType type;
    private final HllSketch distinct = new HllSketch(LG_REGISTERS);
    private final KllDoublesSketch order = KllDoublesSketch.newHeapInstance();
    private final LongsSketch frequent = new LongsSketch(FREQUENT);
    private long values;
    private long nulls;

    public ColumnSketch(DataType type) {
        this.type = type;
    }

    /** Whether values of a type can be sketched. */
    public static boolean takes(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN,
                    SMALLINT,
                    INTEGER,
                    BIGINT,
                    DATE,
                    TIME,
                    TIMESTAMP,
                    TIMESTAMPTZ,
                    REAL,
                    DOUBLE,
                    NUMERIC,
                    TEXT,
                    VARCHAR -> true;
            default -> false;
        };
    }

    /**
     * Adds each {@code every}-th value of a column.
     *
     * @param first the row to begin with
     */
    public void add(Batch batch, int column, int first, int every) {
        FieldVector vector = batch.column(column);
        for (int row = first; row < batch.rowCount(); row += every) {
            if (vector.isNull(row)) {
                nulls++;
            } else {
                values++;
                add(vector, row);
            }
        }
    }

    private void add(FieldVector vector, int row) {
        long data = vector.getDataBufferAddress();
        switch (type.kind()) {
            case BOOLEAN -> addNumber(Memory.getBit(data, row) ? 1 : 0);
            case SMALLINT -> addNumber(Memory.getShort(data + 2L * row));
            case INTEGER, DATE -> addNumber(Memory.getInt(data + 4L * row));
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> addNumber(Memory.getLong(data + 8L * row));
            case REAL -> addNumber(Memory.getFloat(data + 4L * row));
            case DOUBLE -> addNumber(Memory.getDouble(data + 8L * row));
            case NUMERIC -> addNumber(numeric(data + 16L * row).doubleValue());
            case TEXT, VARCHAR -> addKey(key(((BaseVariableWidthVector) vector).get(row)));
            default -> throw new IllegalStateException("no sketch of " + type);
        }
    }

    private BigDecimal numeric(long address) {
        byte[] bigEndian = new byte[16];
        for (int i = 0; i < bigEndian.length; i++) {
            bigEndian[i] = Memory.getByte(address + bigEndian.length - 1 - i);
        }
        return new BigDecimal(new BigInteger(bigEndian), type.scale());
    }

    private void addNumber(double number) {
        if (!Double.isNaN(number)) {
            order.update(number);
        }
        addKey(key(number));
    }

    private void addKey(long key) {
        distinct.update(key);
        frequent.update(key);
    }

    private static long key(double number) {
        return Double.doubleToLongBits(number + 0.0); // both zeros are one
    }

    private static long key(byte[] text) {
        long hash = FNV_BASIS;
        for (byte b : text) {
            hash = (hash ^ b & 0xff) * FNV_PRIME;
        }
        return hash;
    }

    /**
     * How many different values a relation of so many rows has; at least 1. From a sample it is what a relation would have whose
     * values are all as frequent.
     */
    public double distinct(long rows) {
        double seen = Math.max(1, distinct.getEstimate());
        if (values + nulls >= rows) {
            return Math.min(seen, Math.max(1, rows));
        }
        if (seen >= 0.98 * values) {
            return Math.max(1, rows); // as far as can be told
        }
        double least = seen;
        double most = Math.max(seen, rows);
        for (int step = 0; step < 60; step++) {
            double middle = (least + most) / 2;
            if (middle * (1 - Math.exp(-values / middle)) < seen) {
                least = middle;
            } else {
                most = middle;
            }
        }
        return least;
    }

    /** The fraction of rows that are NULL. */
    public double nullFraction() {
        return values + nulls == 0 ? 0 : (double) nulls / (values + nulls);
    }

    /**
     * The fraction of rows that have a value, one of an equal type's literal; empty of a value that cannot be compared.
     *
     * @param rows of the relation
     */
    public OptionalDouble equalTo(Object value, long rows) {
        OptionalDouble number = number(value);
        if (number.isEmpty() && !(value instanceof String) || values == 0) {
            return OptionalDouble.empty();
        }
        long key =
                number.isPresent() ? key(number.getAsDouble()) : key(((String) value).getBytes(StandardCharsets.UTF_8));
        double often = (double) frequent.getEstimate(key) / (values + nulls);
        return OptionalDouble.of(often > 0 ? often : (1 - nullFraction()) / (distinct(rows) + 1));
    }

    /** The fraction of rows that have a lesser value; empty where values have no order here. */
    public OptionalDouble below(Object value) {
        OptionalDouble number = number(value);
        return number.isEmpty() || order.isEmpty() || Double.isNaN(number.getAsDouble())
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        (1 - nullFraction()) * order.getRank(number.getAsDouble(), QuantileSearchCriteria.EXCLUSIVE));
    }

    private static OptionalDouble number(Object value) {
        if (value instanceof Number number) {
            return OptionalDouble.of(number.doubleValue());
        }
        return value instanceof Boolean truth ? OptionalDouble.of(truth ? 1 : 0) : OptionalDouble.empty();
    }
}
