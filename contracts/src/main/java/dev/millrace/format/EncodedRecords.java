package dev.millrace.format;

import java.util.Arrays;

/**
 * Records in memory that somebody else owns: each is a stretch of bytes, perhaps with a key, and the number that its transport knows it
 * by. A null value, as Kafka's tombstones have it, is not a value of no bytes. Eight bytes behind {@link #end} may be read, so that
 * scans can go by words. Filled again and again; owned by one thread.
 *
 * <pre>
 *   address + keyFrom(i) .. keyTo(i)     address + from(i) .. to(i)
 * </pre>
 */
public final class EncodedRecords {
    /** Bytes that may be read behind the end. */
    public static final int SLACK_BYTES = 8;

    private static final int NULL = -1;

    private long address;
    private int end;
    private int count;
    private int[] from = new int[64];
    private int[] to = new int[64];
    private int[] keyFrom = new int[64];
    private int[] keyTo = new int[64];
    private long[] positions = new long[64];

    /** Forgets all records. */
    public void clear() {
        count = 0;
        end = 0;
    }

    /** Where the bytes lie, and how many they are; to be said before records are read and after the memory has moved. */
    public void place(long newAddress, int newEnd) {
        address = newAddress;
        end = newEnd;
    }

    /** Adds a record without a key. */
    public void add(int valueFrom, int valueTo, long position) {
        add(valueFrom, valueTo, NULL, NULL, position);
    }

    /**
     * Adds a record.
     *
     * @param valueFrom where its bytes begin, counted from the address; negative for a null value
     * @param recordKeyFrom likewise its key's; negative for none
     * @param position what its transport knows it by: an offset, a line
     */
    public void add(int valueFrom, int valueTo, int recordKeyFrom, int recordKeyTo, long position) {
        if (count == from.length) {
            int more = count * 2;
            from = Arrays.copyOf(from, more);
            to = Arrays.copyOf(to, more);
            keyFrom = Arrays.copyOf(keyFrom, more);
            keyTo = Arrays.copyOf(keyTo, more);
            positions = Arrays.copyOf(positions, more);
        }
        from[count] = valueFrom;
        to[count] = valueTo;
        keyFrom[count] = recordKeyFrom;
        keyTo[count] = recordKeyTo;
        positions[count++] = position;
    }

    public long address() {
        return address;
    }

    /** How many bytes from the address on are these records'. */
    public int end() {
        return end;
    }

    public int count() {
        return count;
    }

    public boolean isNull(int record) {
        return from[record] < 0;
    }

    public int from(int record) {
        return from[record];
    }

    public int to(int record) {
        return to[record];
    }

    public boolean hasKey(int record) {
        return keyFrom[record] >= 0;
    }

    public int keyFrom(int record) {
        return keyFrom[record];
    }

    public int keyTo(int record) {
        return keyTo[record];
    }

    /** What its transport knows the record by. */
    public long position(int record) {
        return positions[record];
    }
}
