package dev.millrace.connector;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;

/**
 * How far a reader of a source is, as bytes that only the source understands: they begin with the name of their form and its
 * version. Immutable. They may have lain on a disk: who reads them takes nothing for granted.
 */
public final class SourcePosition {
    /** More than any source needs that knows a few files by their names. */
    public static final int MOST_BYTES = 16 << 20;

    private final byte[] bytes;

    /** One that was kept; the bytes are copied. */
    public SourcePosition(byte[] bytes) {
        this.bytes = bytes.clone();
    }

    /** Writes what a position is made of. */
    @FunctionalInterface
    public interface Writer {
        void write(DataOutput out) throws IOException;
    }

    /** Makes something of what a position is made of; {@link IllegalArgumentException} for what cannot be. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(DataInputStream in) throws IOException;
    }

    /** @param form which source can read it, and which version of what it writes */
    public static SourcePosition of(String form, int version, Writer writer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeUTF(form);
            out.writeInt(version);
            writer.write(out);
        } catch (IOException e) {
            throw MillraceException.internal("a position cannot be written: " + e.getMessage(), e);
        }
        return new SourcePosition(bytes.toByteArray());
    }

    /**
     * Reads one that {@link #of} made of this form and version, to its end.
     *
     * @throws MillraceException XX001 if it is another's, or damaged
     */
    public <T> T read(String form, int version, Reader<T> reader) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
            String found = in.readUTF();
            int foundVersion = in.readInt();
            if (!found.equals(form) || foundVersion != version) {
                throw damaged("is of \"" + found + "\", version " + foundVersion, form, version);
            }
            T read = reader.read(in);
            if (in.available() > 0) {
                throw damaged("has " + in.available() + " bytes too many", form, version);
            }
            return read;
        } catch (IOException | IllegalArgumentException e) {
            throw damaged("cannot be read (" + e.getMessage() + ")", form, version);
        }
    }

    /**
     * Reads how many of something follow, each of so many bytes at least.
     *
     * @throws IllegalArgumentException if there are not so many bytes, or less than none are to follow
     */
    public static int count(DataInputStream in, int leastBytes) throws IOException {
        int count = in.readInt();
        int most = in.available() / leastBytes;
        if (count < 0 || count > most) {
            throw new IllegalArgumentException(count + " where at most " + most + " can be");
        }
        return count;
    }

    /** Which form it has, or says that it has. */
    public String form() {
        try {
            return new DataInputStream(new ByteArrayInputStream(bytes)).readUTF();
        } catch (IOException e) {
            return "";
        }
    }

    private static MillraceException damaged(String how, String form, int version) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED,
                "a position in a source " + how + ", where one of \"" + form + "\", version " + version
                        + ", is expected");
    }

    /** The caller's. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SourcePosition position && Arrays.equals(bytes, position.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "position of " + bytes.length + " bytes";
    }
}
