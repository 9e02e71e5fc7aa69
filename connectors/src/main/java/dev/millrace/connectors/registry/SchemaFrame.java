package dev.millrace.connectors.registry;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/** What stands before a value whose schema is in a registry: a byte that is 0, then the schema's number, big endian. */
public final class SchemaFrame {
    /** Bytes before the value. */
    public static final int BYTES = 5;

    private SchemaFrame() {}

    /** Whether a record has a number before its value. */
    public static boolean isFramed(EncodedRecords records, int record) {
        return !records.isNull(record)
                && records.to(record) - records.from(record) >= BYTES
                && Memory.getByte(records.address() + records.from(record)) == 0;
    }

    /** The number of a record's schema, which {@link #isFramed}. */
    public static int id(EncodedRecords records, int record) {
        return Integer.reverseBytes(Memory.getInt(records.address() + records.from(record) + 1));
    }

    public static MillraceException notFramed() {
        return MillraceException.user(
                        SqlState.INVALID_BINARY_REPRESENTATION, "the record does not begin with the number of a schema")
                .withHint("a value of a schema registry begins with a byte 0 and four bytes of the number; without"
                        + " schema_registry, schema or schema_file says how values are written");
    }

    public static void write(TextBuffer into, int id) {
        long at = into.room(BYTES);
        Memory.putByte(at, (byte) 0);
        Memory.putInt(at + 1, Integer.reverseBytes(id));
        into.end(at + BYTES);
    }
}
