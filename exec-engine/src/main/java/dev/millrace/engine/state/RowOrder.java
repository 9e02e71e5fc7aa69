package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;
import java.util.List;

/**
 * The order of rows of a {@link RowCodec}, as PostgreSQL orders values with the C collation: text by bytes, NaN greatest,
 * false before true, intervals as if a month had 30 days, arrays and rows element by element.
 */
public final class RowOrder {
    private final int[] columns;
    private final int[] slots;
    private final DataType[] types;
    private final int[] signs;
    private final int[] nullSigns;

    /**
     * @param keys their columns are columns of the codec
     * @param types of the codec's columns
     */
    public RowOrder(RowCodec codec, List<DataType> types, List<OrderKey> keys) {
        int count = keys.size();
        this.columns = new int[count];
        this.slots = new int[count];
        this.types = new DataType[count];
        this.signs = new int[count];
        this.nullSigns = new int[count];
        for (int i = 0; i < count; i++) {
            OrderKey key = keys.get(i);
            columns[i] = key.column();
            slots[i] = codec.slot(key.column());
            this.types[i] = types.get(key.column());
            signs[i] = key.descending() ? -1 : 1;
            nullSigns[i] = key.nullsFirst() ? -1 : 1;
        }
    }

    /** Negative if row {@code a} comes before row {@code b}, zero if they tie. */
    public int compare(long a, long b) {
        for (int i = 0; i < columns.length; i++) {
            boolean aNull = RowCodec.isNull(a, columns[i]);
            boolean bNull = RowCodec.isNull(b, columns[i]);
            if (aNull || bNull) {
                if (aNull != bNull) {
                    return aNull ? nullSigns[i] : -nullSigns[i];
                }
                continue;
            }
            int order = compare(types[i], a, b, slots[i]);
            if (order != 0) {
                return order < 0 ? -signs[i] : signs[i];
            }
        }
        return 0;
    }

    private static int compare(DataType type, long a, long b, int slot) {
        return compare(type, a, slot, b, slot);
    }

    /** Compares values of one type, none NULL, in slots of two rows, ascending. */
    public static int compare(DataType type, long a, int aSlot, long b, int bSlot) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                Long.compare(Memory.getLong(a + aSlot), Memory.getLong(b + bSlot));
            case REAL, DOUBLE -> Images.compareDoubles(Memory.getDouble(a + aSlot), Memory.getDouble(b + bSlot));
            case NUMERIC -> {
                int order = Long.compare(Memory.getLong(a + aSlot + 8), Memory.getLong(b + bSlot + 8));
                yield order != 0 ? order : Long.compareUnsigned(Memory.getLong(a + aSlot), Memory.getLong(b + bSlot));
            }
            case INTERVAL -> Images.compareIntervals(a + aSlot, b + bSlot);
            case UUID -> Memory.compare(a + aSlot, 16, b + bSlot, 16);
            case ARRAY, ROW -> Images.compareValues(type, a + Memory.getInt(a + aSlot), b + Memory.getInt(b + bSlot));
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, NULL ->
                Memory.compare(
                        a + Memory.getInt(a + aSlot),
                        SlotKind.keyLength(type, Memory.getInt(a + aSlot + 4)),
                        b + Memory.getInt(b + bSlot),
                        SlotKind.keyLength(type, Memory.getInt(b + bSlot + 4)));
        };
    }

    /** Sorts rows; equal ones keep their order. */
    public void sort(long[] rows, int count) {
        RowSort.sort(rows, count, this::compare);
    }
}
