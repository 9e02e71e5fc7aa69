package dev.millrace.engine.checkpoint;

import dev.millrace.memory.Memory;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.arrow.memory.ArrowBuf;

/**
 * Writes one section, part by part, in the format of this package. The section begins with its first part: who writes none leaves
 * no trace. To be {@link #finish finished}, and closed in any case. One thread.
 */
public final class SectionOutput implements StateWriter, DataOutput, AutoCloseable {
    static final int END = 0;
    static final int PART = 1;
    static final int MORE = 2;
    static final int VERSION = 1; // of parts that are no states, but where they say otherwise
    static final String STEP = "step"; // the first part of a section of states

    private static final int HEAD_BYTES = 5;
    private static final int FIRST_BYTES = 1 << 10; // most sections are small
    private static final int LARGEST_BYTES = 256 << 10;
    private static final int LARGEST_PRIMITIVE = 8;
    private static final int NO_GROUP = -1;

    private final Spool spool;
    private final Spool.Section section;
    private final long schemaHash;
    private final Set<StateFormat> formats = new HashSet<>();
    private boolean open; // has a block
    private ArrowBuf block;
    private long address;
    private int size;
    private int position;
    private int chunk; // where its head is
    private long putBytes;
    private boolean finished;
    private OptionalLong step = OptionalLong.empty(); // that states begin with, and has not been written

    @SuppressWarnings("NullAway.Init") // the block, with the first part
    SectionOutput(Spool spool, String name, long schemaHash, boolean whole, Optional<SectionContents> contents) {
        this.spool = spool;
        this.schemaHash = schemaHash;
        this.section = spool.begin(name, whole, contents);
    }

    /** Has the section begin with the number of the step that its states are of, if it has any. */
    SectionOutput ofStep(long number) {
        step = OptionalLong.of(number);
        return this;
    }

    @Override
    public DataOutput keyGroup(StateFormat state, int group) {
        if (step.isPresent()) {
            part(STEP);
            writeLong(step.getAsLong());
            step = OptionalLong.empty();
        }
        formats.add(state);
        return part(state.name(), state.version(), group);
    }

    /** Begins a part that is no state, and ends the one before. */
    public DataOutput part(String name) {
        return part(name, VERSION);
    }

    /** The same of one whose bytes are not as they were first. */
    public DataOutput part(String name, int version) {
        return part(name, version, NO_GROUP);
    }

    /** Bytes of it so far; none if it has not begun. */
    public long bytes() {
        return putBytes + (open ? position : 0);
    }

    /** Of the states that were written. */
    public Set<StateFormat> formats() {
        return formats;
    }

    private DataOutput part(String name, int version, int group) {
        if (open) {
            endChunk();
        }
        room(HEAD_BYTES + LARGEST_PRIMITIVE);
        beginChunk(PART);
        try {
            writeUTF(name);
            writeShort(version);
            writeLong(schemaHash);
            writeShort(group);
        } catch (IOException e) {
            throw new AssertionError("memory is written to", e);
        }
        return this;
    }

    /** Ends the section. */
    public void finish() {
        finished = true;
        if (open) {
            endChunk();
            room(1);
            Memory.putByte(address + position++, (byte) END);
            put(true);
        }
    }

    /** Frees what was not put yet. */
    @Override
    public void close() {
        if (open) {
            open = false;
            block.close();
        }
        if (!finished) {
            finished = true;
            spool.abandon(section);
        }
    }

    private void beginChunk(int kind) {
        chunk = position;
        Memory.putByte(address + position, (byte) kind);
        position += HEAD_BYTES;
    }

    private void endChunk() {
        Memory.putInt(address + chunk + 1, Integer.reverseBytes(position - chunk - HEAD_BYTES));
    }

    /** Sees to it that there are so many bytes in the block, which may be another then; between chunks. */
    private void room(int bytes) {
        if (open && size - position < bytes) {
            put(false);
        }
        if (!open) {
            int next = size == 0 ? FIRST_BYTES : Math.min(LARGEST_BYTES, 4 * size);
            block = spool.take(section, next);
            size = next;
            address = block.memoryAddress();
            position = 0;
            open = true;
        }
    }

    private void put(boolean last) {
        open = false;
        putBytes += position;
        spool.put(section, block, size, position, last);
    }

    /** Room within a chunk, which goes on in the next block if there is none. */
    private void more(int bytes) {
        if (size - position < bytes) {
            endChunk();
            room(HEAD_BYTES + bytes);
            beginChunk(MORE);
        }
    }

    @Override
    public void write(int value) {
        writeByte(value);
    }

    @Override
    public void write(byte[] from) {
        write(from, 0, from.length);
    }

    @Override
    public void write(byte[] from, int offset, int length) {
        for (int done = 0; done < length; ) {
            more(1);
            int count = Math.min(length - done, size - position);
            Memory.copyIn(from, offset + done, address + position, count);
            position += count;
            done += count;
        }
    }

    /** Writes how many bytes there are off the heap, 4 bytes, and these; at once where {@code out} is a section. */
    public static void writeBytes(long from, int length, DataOutput out) throws IOException {
        out.writeInt(length);
        if (out instanceof SectionOutput section) {
            section.write(from, length);
        } else {
            byte[] bytes = new byte[length];
            Memory.copyOut(from, bytes, 0, length);
            out.write(bytes);
        }
    }

    /** Bytes off the heap, which stay the caller's. */
    private void write(long from, int length) {
        for (int done = 0; done < length; ) {
            more(1);
            int count = Math.min(length - done, size - position);
            Memory.copy(from + done, address + position, count);
            position += count;
            done += count;
        }
    }

    @Override
    public void writeBoolean(boolean value) {
        writeByte(value ? 1 : 0);
    }

    @Override
    public void writeByte(int value) {
        more(1);
        Memory.putByte(address + position++, (byte) value);
    }

    @Override
    public void writeShort(int value) {
        more(Short.BYTES);
        Memory.putShort(address + position, Short.reverseBytes((short) value));
        position += Short.BYTES;
    }

    @Override
    public void writeChar(int value) {
        writeShort(value);
    }

    @Override
    public void writeInt(int value) {
        more(Integer.BYTES);
        Memory.putInt(address + position, Integer.reverseBytes(value));
        position += Integer.BYTES;
    }

    @Override
    public void writeLong(long value) {
        more(Long.BYTES);
        Memory.putLong(address + position, Long.reverseBytes(value));
        position += Long.BYTES;
    }

    @Override
    public void writeFloat(float value) {
        writeInt(Float.floatToIntBits(value));
    }

    @Override
    public void writeDouble(double value) {
        writeLong(Double.doubleToLongBits(value));
    }

    @Override
    public void writeBytes(String text) {
        for (int i = 0; i < text.length(); i++) {
            writeByte(text.charAt(i));
        }
    }

    @Override
    public void writeChars(String text) {
        for (int i = 0; i < text.length(); i++) {
            writeChar(text.charAt(i));
        }
    }

    @Override
    public void writeUTF(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new DataOutputStream(bytes).writeUTF(text);
        write(bytes.toByteArray());
    }
}
