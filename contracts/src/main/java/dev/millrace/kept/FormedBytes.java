package dev.millrace.kept;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Bytes that one version of a program writes and another may read: the name of their form and its version, then what they are made of. They
 * may have lain on a disk: who reads them takes nothing for granted.
 */
public final class FormedBytes {
    private FormedBytes() {}

    /** Writes what bytes are made of. */
    @FunctionalInterface
    public interface Writer {
        void write(DataOutput out) throws IOException;
    }

    /** Makes something of what bytes are made of; {@link IllegalArgumentException} for what cannot be. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(DataInputStream in) throws IOException;
    }

    /** @param form who can read it */
    public static byte[] of(String form, int version, Writer writer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeUTF(form);
            out.writeInt(version);
            writer.write(out);
        } catch (IOException e) {
            throw MillraceException.internal("bytes of \"" + form + "\" cannot be written: " + e.getMessage(), e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads what {@link #of} made of this form and version, to its end.
     *
     * @param what they are, for users
     * @throws MillraceException XX001 if they are another's, or damaged
     */
    public static <T> T read(byte[] bytes, String what, String form, int version, Reader<T> reader) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
            String found = in.readUTF();
            int foundVersion = in.readInt();
            if (!found.equals(form) || foundVersion != version) {
                throw damaged(what, "is of \"" + found + "\", version " + foundVersion, form, version);
            }
            T read = reader.read(in);
            if (in.available() > 0) {
                throw damaged(what, "has " + in.available() + " bytes too many", form, version);
            }
            return read;
        } catch (IOException | IllegalArgumentException e) {
            throw damaged(what, "cannot be read (" + e.getMessage() + ")", form, version);
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

    /** Which form bytes have, or say that they have. */
    public static String form(byte[] bytes) {
        try {
            return new DataInputStream(new ByteArrayInputStream(bytes)).readUTF();
        } catch (IOException e) {
            return "";
        }
    }

    private static MillraceException damaged(String what, String how, String form, int version) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED,
                what + " " + how + ", where one of \"" + form + "\", version " + version + ", is expected");
    }
}
