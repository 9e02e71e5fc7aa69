package dev.millrace.connectors.s3;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * An object as it was listed. One that was written again has another tag. Immutable.
 *
 * @param tag by which the store tells contents apart
 * @param modifiedMillis when it was written, by the store's clock
 */
public record StoredObject(ObjectName name, String tag, long bytes, long modifiedMillis) {
    /** Bytes that {@link #write} takes at least. */
    static final int LEAST_BYTES = 22;

    public StoredObject {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " bytes of an object");
        }
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(name.bucket());
        out.writeUTF(name.key());
        out.writeUTF(tag);
        out.writeLong(bytes);
        out.writeLong(modifiedMillis);
    }

    static StoredObject read(DataInput in) throws IOException {
        return new StoredObject(new ObjectName(in.readUTF(), in.readUTF()), in.readUTF(), in.readLong(), in.readLong());
    }

    /** Of name and contents: of a hundred thousand objects two have the same once in billions of such sets. */
    long print() {
        return (long) sum(name + "\n" + tag) << 32 | sum(tag + "\n" + name) & 0xffff_ffffL;
    }

    private static int sum(String text) {
        CRC32C sum = new CRC32C();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return (int) sum.getValue();
    }
}
