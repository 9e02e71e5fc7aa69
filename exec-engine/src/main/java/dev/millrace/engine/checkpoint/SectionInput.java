package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads one section, part by part, in the format of this package. What it is asked for beyond the end of a part is not there; what
 * of a part is not asked for is passed over. One thread.
 */
public final class SectionInput implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);

    private final String section;
    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final Part part = new Part();
    private int at; // in the buffer
    private int end;
    private String name = "";
    private int version;
    private long schemaHash;
    private int group;
    private int left; // of the chunk
    private int nextKind = -1; // of the chunk behind, once it was looked at
    private boolean ended;

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.BIG_ENDIAN);
    }

    /** @param bytes closed with this */
    SectionInput(String section, InputStream bytes) {
        this.section = section;
        this.in = bytes;
    }

    /**
     * Goes on to the next part; false if there is none.
     *
     * @throws MillraceException XX001 if the section is damaged
     */
    public boolean next() throws IOException {
        while (!ended && !(nextKind == SectionOutput.PART && left == 0)) {
            skipChunk();
            look();
        }
        if (ended) {
            return false;
        }
        beginChunk();
        name = part.readUTF();
        version = part.readShort();
        schemaHash = part.readLong();
        group = part.readShort();
        return true;
    }

    /** @throws MillraceException 0A000 if the part is in another format */
    void requireVersion(int read) {
        require(version == read, read);
    }

    /** In which format the part is. */
    public int version() {
        return version;
    }

    /** @throws MillraceException 0A000 if the part is in a later format */
    void requireVersionUpTo(int newest) {
        require(version >= 1 && version <= newest, newest);
    }

    private void require(boolean holds, int read) {
        if (!holds) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "section \"" + section + "\" of a checkpoint has \"" + name + "\" in format " + version
                            + ", this release reads " + read);
        }
    }

    /** @throws MillraceException XX001 if the part is of something else */
    void requireSchema(long hash) {
        if (schemaHash != hash) {
            throw damaged("has \"" + name + "\" of another operator, with schema " + Long.toHexString(schemaHash)
                    + " instead of " + Long.toHexString(hash));
        }
    }

    public String name() {
        return name;
    }

    /** -1 for none. */
    public int group() {
        return group;
    }

    /** The bytes of the part. */
    public DataInput part() {
        return part;
    }

    /** Reads bytes to where they are to be off the heap; at once where {@code in} is a part of a section. */
    public static void readBytes(DataInput in, long to, int length) throws IOException {
        if (in instanceof Part section) {
            section.readFully(to, length);
        } else {
            byte[] bytes = new byte[length];
            in.readFully(bytes);
            Memory.copyIn(bytes, 0, to, length);
        }
    }

    /**
     * Reads a length or a number of things, 4 bytes.
     *
     * @throws IOException for what is less than 0
     */
    public static int readLength(DataInput in) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            throw new EOFException("a length of " + length);
        }
        return length;
    }

    /** About how many bytes of the section, and so of the part, are still to come at most; 0 where that is not known. */
    public static long bytesAhead(DataInput in) throws IOException {
        return in instanceof Part section ? section.ahead() : 0;
    }

    private void skipChunk() throws IOException {
        if (nextKind == SectionOutput.MORE) {
            beginChunk();
        }
        while (left > 0) {
            if (at == end) {
                fill();
            }
            int skipped = Math.min(left, end - at);
            at += skipped;
            left -= skipped;
        }
    }

    private void fill() throws IOException {
        int count = in.read(buffer, 0, buffer.length);
        if (count <= 0) {
            throw damaged("ends in the midst");
        }
        at = 0;
        end = count;
    }

    private int readByte() throws IOException {
        if (at == end) {
            fill();
        }
        return buffer[at++];
    }

    /** Finds out what follows the chunk, which was read. */
    private void look() throws IOException {
        if (nextKind < 0) {
            int kind = readByte();
            if (kind != SectionOutput.PART && kind != SectionOutput.MORE && kind != SectionOutput.END) {
                throw damaged("has a piece of kind " + kind);
            }
            nextKind = kind;
            ended = nextKind == SectionOutput.END;
        }
    }

    private void beginChunk() throws IOException {
        left = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            left = left << Byte.SIZE | readByte() & 0xFF;
        }
        nextKind = -1;
        if (left < 0) {
            throw damaged("has a piece of " + left + " bytes");
        }
    }

    private MillraceException damaged(String how) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "section \"" + section + "\" of a checkpoint " + how);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** Of the part, up to its end. */
    private final class Part implements DataInput {
        private final byte[] primitive = new byte[Long.BYTES]; // one that is not whole in the buffer

        /** Has some bytes of the part in the buffer; returns how many at most, 0 at its end. */
        private int some() throws IOException {
            while (left == 0) {
                look();
                if (nextKind != SectionOutput.MORE) {
                    return 0;
                }
                beginChunk();
            }
            if (at == end) {
                fill();
            }
            return Math.min(left, end - at);
        }

        private void take(int count) {
            at += count;
            left -= count;
        }

        private boolean holds(int bytes) {
            return bytes <= left && bytes <= end - at;
        }

        private int someOrEnd() throws IOException {
            int some = some();
            if (some == 0) {
                throw new EOFException();
            }
            return some;
        }

        private long ahead() throws IOException {
            return (long) end - at + in.available();
        }

        void readFully(long to, int length) throws IOException {
            for (int done = 0; done < length; ) {
                int count = Math.min(someOrEnd(), length - done);
                Memory.copyIn(buffer, at, to + done, count);
                take(count);
                done += count;
            }
        }

        @Override
        public void readFully(byte[] into) throws IOException {
            readFully(into, 0, into.length);
        }

        @Override
        public void readFully(byte[] into, int offset, int length) throws IOException {
            for (int done = 0; done < length; ) {
                int count = Math.min(someOrEnd(), length - done);
                System.arraycopy(buffer, at, into, offset + done, count);
                take(count);
                done += count;
            }
        }

        @Override
        public int skipBytes(int count) throws IOException {
            int done = 0;
            for (int some = some(); done < count && some > 0; some = some()) {
                int skipped = Math.min(some, count - done);
                take(skipped);
                done += skipped;
            }
            return done;
        }

        @Override
        public byte readByte() throws IOException {
            someOrEnd();
            byte value = buffer[at];
            take(1);
            return value;
        }

        @Override
        public int readUnsignedByte() throws IOException {
            return readByte() & 0xFF;
        }

        @Override
        public boolean readBoolean() throws IOException {
            return readByte() != 0;
        }

        @Override
        public short readShort() throws IOException {
            if (holds(Short.BYTES)) {
                short value = (short) SHORT.get(buffer, at);
                take(Short.BYTES);
                return value;
            }
            readFully(primitive, 0, Short.BYTES);
            return (short) SHORT.get(primitive, 0);
        }

        @Override
        public int readUnsignedShort() throws IOException {
            return readShort() & 0xFFFF;
        }

        @Override
        public char readChar() throws IOException {
            return (char) readShort();
        }

        @Override
        public int readInt() throws IOException {
            if (holds(Integer.BYTES)) {
                int value = (int) INT.get(buffer, at);
                take(Integer.BYTES);
                return value;
            }
            readFully(primitive, 0, Integer.BYTES);
            return (int) INT.get(primitive, 0);
        }

        @Override
        public long readLong() throws IOException {
            if (holds(Long.BYTES)) {
                long value = (long) LONG.get(buffer, at);
                take(Long.BYTES);
                return value;
            }
            readFully(primitive, 0, Long.BYTES);
            return (long) LONG.get(primitive, 0);
        }

        @Override
        public float readFloat() throws IOException {
            return Float.intBitsToFloat(readInt());
        }

        @Override
        public double readDouble() throws IOException {
            return Double.longBitsToDouble(readLong());
        }

        @Override
        public String readLine() {
            throw new UnsupportedOperationException("a part has no lines");
        }

        @Override
        public String readUTF() throws IOException {
            return DataInputStream.readUTF(this);
        }
    }
}
