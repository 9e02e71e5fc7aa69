package dev.millrace.connectors.outbox;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of records that is complete.
 *
 * @param number of the file
 * @param checkpoint at whose cut it ended
 * @param bytes of it, the first ones
 */
record SpoolEntry(long number, long checkpoint, long bytes, long records) {
    private static final String FORM = "outbox";
    private static final int VERSION = 1;
    private static final int ENTRY_BYTES = 32;

    /** A checkpoint's token, that has these. */
    static byte[] token(List<SpoolEntry> entries) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeUTF(FORM);
            out.writeInt(VERSION);
            out.writeInt(entries.size());
            for (SpoolEntry entry : entries) {
                out.writeLong(entry.number);
                out.writeLong(entry.checkpoint);
                out.writeLong(entry.bytes);
                out.writeLong(entry.records);
            }
        } catch (IOException e) {
            throw MillraceException.internal("memory cannot be written to", e);
        }
        return bytes.toByteArray();
    }

    /** @throws MillraceException XX001 if it is damaged, or of another kind of sink */
    static List<SpoolEntry> ofToken(byte[] token) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(token))) {
            String form = in.readUTF();
            int version = in.readInt();
            if (!form.equals(FORM) || version != VERSION) {
                throw damaged("is of \"" + form + "\", version " + version);
            }
            int count = in.readInt();
            if (count < 0 || (long) count * ENTRY_BYTES != in.available()) {
                throw damaged("names " + count + " files in " + in.available() + " bytes");
            }
            List<SpoolEntry> entries = new ArrayList<>();
            long last = -1;
            long lastCheckpoint = Long.MIN_VALUE;
            for (int i = 0; i < count; i++) {
                SpoolEntry entry = new SpoolEntry(in.readLong(), in.readLong(), in.readLong(), in.readLong());
                if (entry.number <= last || entry.checkpoint <= lastCheckpoint || entry.records < 1) {
                    throw damaged("names files in no order");
                }
                last = entry.number;
                lastCheckpoint = entry.checkpoint;
                entries.add(entry);
            }
            return entries;
        } catch (IOException e) {
            throw damaged("lacks bytes");
        }
    }

    private static MillraceException damaged(String how) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, "what a checkpoint says of a sink's records " + how);
    }
}
