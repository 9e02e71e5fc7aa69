package dev.millrace.storage.column;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;

/** Values of one column, gathered on the heap until they are encoded; kept from use to use. For one thread. */
public final class ColumnBuffer {
    static final int NO_NULLS = 0;
    static final int SOME_NULLS = 1;
    static final int ALL_NULLS = 2;
    static final int ALL_FALSE = 0;
    static final int ALL_TRUE = 1;
    static final int MIXED = 2;

    private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

    private final DataType type;
    private final List<ColumnBuffer> children;
    private byte[] valid = new byte[0]; // a bit for each value
    private long[] values = new long[0]; // integers, bits, lower halves, nanoseconds; lengths of texts and arrays
    private long[] upper = new long[0]; // upper halves of NUMERIC; months and days of INTERVAL
    private byte[] data = new byte[0]; // of texts
    private int dataBytes;
    private int count;
    private int nulls;

    public ColumnBuffer(DataType type) {
        this.type = type;
        this.children = type.fields().stream()
                .map(field -> new ColumnBuffer(field.type()))
                .toList();
    }

    public DataType type() {
        return type;
    }

    /** Forgets all values. */
    public void clear() {
        Arrays.fill(valid, 0, bitBytes(count), (byte) 0);
        count = 0;
        nulls = 0;
        dataBytes = 0;
        children.forEach(ColumnBuffer::clear);
    }

    public int nulls() {
        return nulls;
    }

    /** Bytes of memory that its values take, about. */
    public long bytes() {
        long bytes = dataBytes + (long) count * (upper.length > 0 ? 17 : 9);
        for (ColumnBuffer child : children) {
            bytes += child.bytes();
        }
        return bytes;
    }

    /** Bytes of memory that some values of a vector would take here, about. */
    public static long bytes(FieldVector vector, DataType type, int from, int values) {
        long bytes = 9L * values;
        if (isText(type) && type.kind() != DataType.Kind.UUID) {
            return bytes + end(vector, from + values) - end(vector, from);
        }
        if (type.kind() == DataType.Kind.ARRAY) {
            int first = end(vector, from);
            return bytes
                    + bytes(
                            ((ListVector) vector).getDataVector(),
                            type.element(),
                            first,
                            end(vector, from + values) - first);
        }
        for (int child = 0; child < type.fields().size(); child++) {
            FieldVector within = vector.getChildrenFromFields().get(child);
            bytes += bytes(within, type.fields().get(child).type(), from, values);
        }
        return type.fixedWidth() == 16 ? bytes + 8L * values : bytes;
    }

    private static boolean isText(DataType type) {
        return type.isBytes() || type.kind() == DataType.Kind.UUID;
    }

    static int bitBytes(int bits) {
        return (bits >>> 3) + ((bits & 7) == 0 ? 0 : 1);
    }

    /** Where the value before a place ends, in the data of texts or in the elements of arrays. */
    private static int end(FieldVector vector, int place) {
        return place == 0 && vector.getOffsetBuffer().capacity() == 0
                ? 0
                : Memory.getInt(vector.getOffsetBuffer().memoryAddress() + 4L * place);
    }

    // ---- gathering -------------------------------------------------------------------------------------------------

    /** Adds values of a vector of its type, which stays the caller's. 54000 if they become more than fit, some 2 GB. */
    public void append(FieldVector vector, int from, int more) {
        if (more == 0) {
            return;
        }
        reserve(more);
        int before = nulls;
        if (type.kind() == DataType.Kind.NULL) {
            nulls += more;
        } else {
            appendValid(vector.getValidityBufferAddress(), from, more);
        }
        switch (type.kind()) {
            case BOOLEAN -> {
                long bits = vector.getDataBufferAddress();
                for (int i = 0; i < more; i++) {
                    values[count + i] = Memory.getBit(bits, from + i) ? 1 : 0;
                }
            }
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, REAL, DOUBLE ->
                appendWords(vector.getDataBufferAddress(), from, more);
            case NUMERIC -> {
                long words = vector.getDataBufferAddress() + 16L * from;
                for (int i = 0; i < more; i++) {
                    values[count + i] = Memory.getLong(words + 16L * i);
                    upper[count + i] = Memory.getLong(words + 16L * i + 8);
                }
            }
            case INTERVAL -> {
                long words = vector.getDataBufferAddress() + 16L * from;
                for (int i = 0; i < more; i++) {
                    upper[count + i] = Memory.getLong(words + 16L * i);
                    values[count + i] = Memory.getLong(words + 16L * i + 8);
                }
            }
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA -> appendTexts(vector, from, more, nulls > before);
            case UUID -> {
                reserveData(16L * more);
                Memory.copyOut(vector.getDataBufferAddress() + 16L * from, data, dataBytes, 16 * more);
                dataBytes += 16 * more;
                Arrays.fill(values, count, count + more, 16);
            }
            case ARRAY -> {
                for (int i = 0; i < more; i++) {
                    values[count + i] = end(vector, from + i + 1) - end(vector, from + i);
                }
                int first = end(vector, from);
                children.get(0).append(((ListVector) vector).getDataVector(), first, end(vector, from + more) - first);
            }
            case ROW -> {
                for (int child = 0; child < children.size(); child++) {
                    children.get(child).append(vector.getChildrenFromFields().get(child), from, more);
                }
            }
            case NULL -> {}
        }
        if (nulls > before && type.kind() != DataType.Kind.NULL && !type.isNested() && !isText(type)) {
            repeatUnderNulls(more);
        }
        count += more;
    }

    private void reserve(int more) {
        long wanted = (long) count + more;
        if (wanted > values.length) {
            if (wanted > MOST_BYTES / 16) {
                throw MillraceException.user(
                        SqlState.PROGRAM_LIMIT_EXCEEDED, wanted + " values of one column cannot be written at once");
            }
            int room = (int) Math.max(wanted, Math.min(MOST_BYTES / 16, 2L * values.length));
            values = Arrays.copyOf(values, room);
            if (type.kind() == DataType.Kind.NUMERIC || type.kind() == DataType.Kind.INTERVAL) {
                upper = Arrays.copyOf(upper, room);
            }
            valid = Arrays.copyOf(valid, bitBytes(room));
        }
    }

    private void reserveData(long more) {
        long wanted = dataBytes + more;
        if (wanted > data.length) {
            if (wanted > MOST_BYTES) {
                throw MillraceException.user(
                        SqlState.PROGRAM_LIMIT_EXCEEDED, wanted + " bytes of one column cannot be written at once");
            }
            data = Arrays.copyOf(data, (int) Math.min(MOST_BYTES, Math.max(wanted, 2L * data.length)));
        }
    }

    private void appendValid(long validity, int from, int more) {
        for (int i = 0; i < more; i++) {
            if (Memory.getBit(validity, from + i)) {
                valid[count + i >>> 3] |= (byte) (1 << (count + i & 7));
            } else {
                nulls++;
            }
        }
    }

    private boolean isValid(int place) {
        return (valid[place >>> 3] >>> (place & 7) & 1) != 0;
    }

    private void appendWords(long address, int from, int more) {
        switch (type.fixedWidth()) {
            case 2 -> {
                for (int i = 0; i < more; i++) {
                    values[count + i] = Memory.getShort(address + 2L * (from + i));
                }
            }
            case 4 -> {
                for (int i = 0; i < more; i++) {
                    values[count + i] = Memory.getInt(address + 4L * (from + i));
                }
            }
            default -> {
                for (int i = 0; i < more; i++) {
                    values[count + i] = Memory.getLong(address + 8L * (from + i));
                }
            }
        }
    }

    private void appendTexts(FieldVector vector, int from, int more, boolean someNull) {
        long texts = vector.getDataBufferAddress();
        if (!someNull) {
            int first = end(vector, from);
            int bytes = end(vector, from + more) - first;
            reserveData(bytes);
            Memory.copyOut(texts + first, data, dataBytes, bytes);
            dataBytes += bytes;
            for (int i = 0; i < more; i++) {
                values[count + i] = end(vector, from + i + 1) - end(vector, from + i);
            }
            return;
        }
        for (int i = 0; i < more; i++) {
            int first = end(vector, from + i);
            int bytes = isValid(count + i) ? end(vector, from + i + 1) - first : 0;
            reserveData(bytes);
            Memory.copyOut(texts + first, data, dataBytes, bytes);
            dataBytes += bytes;
            values[count + i] = bytes;
        }
    }

    /** What costs least. */
    private void repeatUnderNulls(int more) {
        for (int i = count; i < count + more; i++) {
            if (!isValid(i)) {
                values[i] = i == 0 ? 0 : values[i - 1];
                if (upper.length > 0) {
                    upper[i] = i == 0 ? 0 : upper[i - 1];
                }
            }
        }
    }

    // ---- encoding --------------------------------------------------------------------------------------------------

    /**
     * Writes the column.
     *
     * @param mayUseDictionary whether texts may be written by their distinct ones, which is mostly shorter before compression, and not
     *     always after
     * @return whether any were
     */
    public boolean encode(ByteOutput out, boolean mayUseDictionary) {
        boolean byDictionary = false;
        if (nulls == count && count > 0) {
            out.putByte(ALL_NULLS);
            return byDictionary;
        }
        out.putByte(nulls == 0 ? NO_NULLS : SOME_NULLS);
        if (nulls > 0) {
            out.putBytes(valid, 0, bitBytes(count));
        }
        switch (type.kind()) {
            case BOOLEAN -> encodeBits(out);
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                IntegerEncoding.write(values, count, out);
            case REAL, DOUBLE -> FloatEncoding.write(values, count, type.kind() == DataType.Kind.REAL, out);
            case NUMERIC -> encodeNumeric(out);
            case INTERVAL -> {
                long[] part = new long[count];
                Arrays.setAll(part, i -> (int) upper[i]);
                IntegerEncoding.write(part, count, out);
                Arrays.setAll(part, i -> upper[i] >> 32);
                IntegerEncoding.write(part, count, out);
                IntegerEncoding.write(values, count, out);
            }
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, UUID ->
                byDictionary = TextEncoding.write(values, count, data, dataBytes, mayUseDictionary, out);
            case ARRAY -> {
                IntegerEncoding.write(values, count, out);
                byDictionary = children.get(0).encode(out, mayUseDictionary);
            }
            case ROW -> {
                for (ColumnBuffer child : children) {
                    byDictionary |= child.encode(out, mayUseDictionary);
                }
            }
            case NULL -> {}
        }
        return byDictionary;
    }

    private void encodeBits(ByteOutput out) {
        int ones = 0;
        for (int i = 0; i < count; i++) {
            ones += (int) values[i];
        }
        out.putByte(ones == 0 ? ALL_FALSE : ones == count ? ALL_TRUE : MIXED);
        if (ones > 0 && ones < count) {
            int at = out.take(bitBytes(count));
            Arrays.fill(out.array(), at, out.size(), (byte) 0);
            for (int i = 0; i < count; i++) {
                out.array()[at + (i >>> 3)] |= (byte) (values[i] << (i & 7));
            }
        }
    }

    private void encodeNumeric(ByteOutput out) {
        boolean narrow = true;
        for (int i = 0; i < count; i++) {
            narrow &= upper[i] == values[i] >> 63;
        }
        out.putByte(narrow ? 0 : 1);
        IntegerEncoding.write(values, count, out);
        if (!narrow) {
            IntegerEncoding.write(upper, count, out);
        }
    }

    /** What is known of its values without reading them. */
    public ColumnBounds statistics() {
        if (nulls == count || !SortKey.isKnown(type)) {
            return ColumnBounds.unbounded(nulls);
        }
        int least = -1;
        int greatest = -1;
        long at = 0; // of texts
        long leastAt = 0;
        long greatestAt = 0;
        for (int i = 0; i < count; i++) {
            if (isValid(i)) {
                if (least < 0 || compare(i, at, least, leastAt) < 0) {
                    least = i;
                    leastAt = at;
                }
                if (greatest < 0 || compare(i, at, greatest, greatestAt) > 0) {
                    greatest = i;
                    greatestAt = at;
                }
            }
            at += isText(type) ? values[i] : 0;
        }
        return ColumnBounds.of(nulls, key(least, (int) leastAt), key(greatest, (int) greatestAt));
    }

    /** Of two values of a type that has keys, as these compare; texts are at places of the data. */
    private int compare(int a, long aAt, int b, long bAt) {
        return switch (type.kind()) {
            case REAL, DOUBLE -> Double.compare(number(a), number(b));
            case NUMERIC ->
                upper[a] != upper[b] ? Long.compare(upper[a], upper[b]) : Long.compareUnsigned(values[a], values[b]);
            case TEXT, VARCHAR, BYTEA, UUID ->
                Arrays.compareUnsigned(
                        data, (int) aAt, (int) (aAt + values[a]), data, (int) bAt, (int) (bAt + values[b]));
            default -> Long.compare(values[a], values[b]);
        };
    }

    private double number(int place) {
        double number = type.kind() == DataType.Kind.REAL
                ? Float.intBitsToFloat((int) values[place])
                : Double.longBitsToDouble(values[place]);
        return number == 0 ? 0 : number;
    }

    private byte[] key(int place, int at) {
        return switch (type.kind()) {
            case REAL, DOUBLE -> SortKey.ofDouble(number(place));
            case NUMERIC -> SortKey.ofWide(values[place], upper[place]);
            case TEXT, VARCHAR, BYTEA, UUID -> Arrays.copyOfRange(data, at, at + (int) values[place]);
            default -> SortKey.ofLong(values[place]);
        };
    }
}
