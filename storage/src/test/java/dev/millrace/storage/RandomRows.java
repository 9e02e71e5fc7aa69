package dev.millrace.storage;

import dev.millrace.batch.Batch;
import dev.millrace.number.Bignum;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;

/** Schemas of all types and rows of them: of values without pattern, and as streams have them. For one thread. */
public final class RandomRows {
    private final Random random;

    public RandomRows(Random random) {
        this.random = random;
    }

    /** A type, with others within up to a depth. */
    public DataType type(int depth) {
        List<DataType> flat = List.of(
                DataType.BOOLEAN,
                DataType.SMALLINT,
                DataType.INTEGER,
                DataType.BIGINT,
                DataType.REAL,
                DataType.DOUBLE,
                DataType.numeric(38, 16),
                DataType.numeric(9, 2),
                DataType.BIGNUM,
                DataType.TEXT,
                DataType.varchar(20),
                DataType.BYTEA,
                DataType.DATE,
                DataType.TIME,
                DataType.TIMESTAMP,
                DataType.TIMESTAMPTZ,
                DataType.INTERVAL,
                DataType.UUID,
                DataType.NULL);
        int choice = random.nextInt(flat.size() + (depth > 0 ? 8 : 0));
        if (choice < flat.size()) {
            return flat.get(choice);
        } else if (choice % 2 == 0) {
            return DataType.array(type(depth - 1));
        }
        List<Field> fields = new ArrayList<>();
        for (int field = 0; field <= random.nextInt(3); field++) {
            fields.add(new Field("f" + field, type(depth - 1), true));
        }
        return DataType.row(fields);
    }

    /** A value without pattern, which is NULL by a probability. */
    public Object value(DataType type, double nulls) {
        if (random.nextDouble() < nulls) {
            return null;
        }
        return switch (type.kind()) {
            case BOOLEAN -> random.nextBoolean();
            case SMALLINT -> (long) (short) random.nextInt();
            case INTEGER, DATE -> (long) random.nextInt();
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> random.nextLong();
            case REAL -> (double) random.nextFloat();
            case DOUBLE -> random.nextGaussian();
            case NUMERIC -> new BigDecimal(new BigInteger(random.nextInt(28) + 1, random), type.scale());
            case BIGNUM ->
                Bignum.of(new BigDecimal(new BigInteger(random.nextInt(300) + 1, random), random.nextInt(40)))
                        .trimmed();
            case TEXT, VARCHAR, CHAR, JSONB -> "ab\u00e9".repeat(random.nextInt(5));
            case BYTEA -> random.ints(random.nextInt(9)).mapToObj(i -> (byte) i).toList();
            case INTERVAL -> new Row.Interval(random.nextInt(), random.nextInt(), random.nextInt());
            case UUID -> new UUID(random.nextLong(), random.nextLong());
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (int element = random.nextInt(4); element > 0; element--) {
                    elements.add(value(type.element(), nulls));
                }
                yield elements;
            }
            case ROW -> {
                List<Object> fields = new ArrayList<>();
                type.fields().forEach(field -> fields.add(value(field.type(), nulls)));
                yield fields;
            }
            case NULL -> null;
        };
    }

    /** One to six columns. */
    public Schema schema() {
        List<Field> fields = new ArrayList<>();
        for (int column = 0; column <= random.nextInt(6); column++) {
            fields.add(new Field("c" + column, type(3), true));
        }
        return new Schema(fields);
    }

    /** Rows without pattern, with weights or without. */
    public Batch batch(Schema schema, int rows, BufferAllocator allocator) {
        double nulls = List.of(0.0, 0.2, 1.0).get(random.nextInt(3));
        List<Row> all = new ArrayList<>();
        long[] weights = new long[rows];
        for (int row = 0; row < rows; row++) {
            List<Object> values = new ArrayList<>();
            schema.fields().forEach(field -> values.add(value(field.type(), nulls)));
            all.add(new Row(values));
            weights[row] = random.nextBoolean() ? 1 : -1 - random.nextInt(3);
        }
        return random.nextBoolean()
                ? TestBatches.of(schema, allocator, all)
                : TestBatches.weighted(schema, allocator, all, weights);
    }

    /**
     * Values of a column as streams have them: the same again and again, runs, few different ones, rising by equal steps or about so,
     * decimals of few digits, and such without pattern among them.
     */
    public List<Object> column(DataType type, int rows) {
        double nulls = List.of(0.0, 0.0, 0.1, 0.9, 1.0).get(random.nextInt(5));
        int form = random.nextInt(6);
        List<Object> few = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(9); i++) {
            few.add(value(type, 0));
        }
        long start = random.nextLong() >> random.nextInt(60);
        long step = 1 + random.nextInt(1 << random.nextInt(20));
        int digits = random.nextInt(4);
        List<Object> values = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            Object value = switch (form) {
                case 0 -> few.get(0);
                case 1 -> few.get(row / 37 % few.size());
                case 2 -> few.get(random.nextInt(few.size()));
                case 3 -> patterned(type, start + step * row, digits);
                case 4 ->
                    patterned(type, start + step * (row + (random.nextInt(50) == 0 ? random.nextInt(99) : 0)), digits);
                default -> value(type, 0);
            };
            values.add(random.nextDouble() < nulls ? null : value);
        }
        return values;
    }

    /** The value of a number; of types that are no numbers one without pattern. */
    private Object patterned(DataType type, long number, int digits) {
        return switch (type.kind()) {
            case SMALLINT -> (long) (short) number;
            case INTEGER, DATE -> (long) (int) number;
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> number;
            case REAL -> (double) (float) (number % 100_000 / Math.pow(10, digits));
            case DOUBLE ->
                switch (random.nextInt(2000)) {
                    case 0 -> Double.NaN;
                    case 1 -> Double.NEGATIVE_INFINITY;
                    case 2 -> Math.PI * number;
                    default -> number % 1_000_000_000 / Math.pow(10, digits);
                };
            case NUMERIC -> new BigDecimal(BigInteger.valueOf(number % 100_000_000), type.scale());
            case TEXT, VARCHAR, CHAR, JSONB -> "device-" + Math.floorMod(number, 1000);
            case BIGNUM, BOOLEAN, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL -> value(type, 0);
        };
    }

    /** Rows without weights, of patterned columns. */
    public List<Row> rows(Schema schema, int rows) {
        List<List<Object>> columns = new ArrayList<>();
        schema.fields().forEach(field -> columns.add(column(field.type(), rows)));
        List<Row> all = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            List<Object> values = new ArrayList<>();
            for (List<Object> column : columns) {
                values.add(column.get(row));
            }
            all.add(new Row(values));
        }
        return all;
    }
}
