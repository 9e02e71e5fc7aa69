package dev.millrace.connectors.parquet;

/**
 * Holds bytes to what a struct in Thrift's compact form must be, before a library makes objects of it: no list, text or depth is beyond what the
 * bytes can have. Not thread-safe.
 */
final class CompactThrift {
    /** What {@link #length} gives for a struct that goes on behind the bytes that are there. */
    static final int GOES_ON = -1;

    private static final int DEEPEST = 32;
    private static final int LONGEST_VARINT = 10;

    private static final int TRUE = 1;
    private static final int FALSE = 2;
    private static final int BYTE = 3;
    private static final int I16 = 4;
    private static final int I32 = 5;
    private static final int I64 = 6;
    private static final int DOUBLE = 7;
    private static final int BINARY = 8;
    private static final int LIST = 9;
    private static final int SET = 10;
    private static final int MAP = 11;
    private static final int STRUCT = 12;
    private static final int UUID = 13;

    private final byte[] bytes;
    private final int end;
    private int at;

    /** The bytes end before a value does. */
    private static final class Ended extends Exception {
        private static final long serialVersionUID = 1;

        Ended() {
            super("", null, false, false);
        }
    }

    private CompactThrift(byte[] bytes, int end) {
        this.bytes = bytes;
        this.end = end;
    }

    /**
     * How many of the first bytes are a struct; {@link #GOES_ON} if it is not whole.
     *
     * @param end how many bytes there are
     * @throws ParquetDamage if it is none
     */
    static int length(byte[] bytes, int end) throws ParquetDamage {
        CompactThrift walk = new CompactThrift(bytes, end);
        try {
            walk.struct(0);
            return walk.at;
        } catch (Ended e) {
            return GOES_ON;
        }
    }

    private int next() throws Ended {
        if (at >= end) {
            throw new Ended();
        }
        return bytes[at++] & 0xff;
    }

    private long varint() throws Ended, ParquetDamage {
        long value = 0;
        for (int i = 0; i < LONGEST_VARINT; i++) {
            int b = next();
            value |= (long) (b & 0x7f) << 7 * i;
            if (b < 0x80) {
                return value;
            }
        }
        throw new ParquetDamage("a number in its metadata does not end");
    }

    private void pass(long length) throws Ended {
        if (length < 0 || length > end - at) {
            throw new Ended();
        }
        at += (int) length;
    }

    private void struct(int depth) throws Ended, ParquetDamage {
        while (true) {
            int header = next();
            if (header == 0) {
                return;
            }
            if (header >>> 4 == 0) {
                varint(); // the field's number
            }
            value(header & 0xf, depth, false);
        }
    }

    private void value(int type, int depth, boolean isElement) throws Ended, ParquetDamage {
        if (depth > DEEPEST) {
            throw new ParquetDamage("its metadata is nested more than " + DEEPEST + " deep");
        }
        switch (type) {
            case TRUE, FALSE -> pass(isElement ? 1 : 0);
            case BYTE -> pass(1);
            case I16, I32, I64 -> varint();
            case DOUBLE -> pass(8);
            case UUID -> pass(16);
            case BINARY -> pass(length());
            case LIST, SET -> {
                int header = next();
                long count = header >>> 4 == 15 ? length() : header >>> 4;
                elements(count, header & 0xf, depth);
            }
            case MAP -> {
                long count = length();
                if (count > 0) {
                    int types = next();
                    for (long i = 0; i < count; i++) {
                        value(types >>> 4, depth + 1, true);
                        value(types & 0xf, depth + 1, true);
                    }
                }
            }
            case STRUCT -> struct(depth + 1);
            default -> throw new ParquetDamage("its metadata has a value of type " + type);
        }
    }

    /** Each of which has a byte at least. */
    private void elements(long count, int type, int depth) throws Ended, ParquetDamage {
        if (count > end - at) {
            throw new Ended();
        }
        for (long i = 0; i < count; i++) {
            value(type, depth + 1, true);
        }
    }

    private long length() throws Ended, ParquetDamage {
        long length = varint();
        if (length < 0 || length > Integer.MAX_VALUE) {
            throw new ParquetDamage("its metadata has a length of " + length);
        }
        return length;
    }
}
