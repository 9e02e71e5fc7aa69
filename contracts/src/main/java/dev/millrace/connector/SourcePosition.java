package dev.millrace.connector;

import dev.millrace.kept.FormedBytes;
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

    /** @param form which source can read it, and which version of what it writes */
    public static SourcePosition of(String form, int version, FormedBytes.Writer writer) {
        return new SourcePosition(FormedBytes.of(form, version, writer));
    }

    /**
     * Reads one that {@link #of} made of this form and version, to its end.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is another's, or damaged
     */
    public <T> T read(String form, int version, FormedBytes.Reader<T> reader) {
        return FormedBytes.read(bytes, "a position in a source", form, version, reader);
    }

    /** Which form it has, or says that it has. */
    public String form() {
        return FormedBytes.form(bytes);
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
