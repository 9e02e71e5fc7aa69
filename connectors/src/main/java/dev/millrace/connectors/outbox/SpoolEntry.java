package dev.millrace.connectors.outbox;

import dev.millrace.kept.FormedBytes;
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
        return FormedBytes.of(FORM, VERSION, out -> {
            out.writeInt(entries.size());
            for (SpoolEntry entry : entries) {
                out.writeLong(entry.number);
                out.writeLong(entry.checkpoint);
                out.writeLong(entry.bytes);
                out.writeLong(entry.records);
            }
        });
    }

    /** @throws dev.millrace.error.MillraceException XX001 if it is damaged, or of another kind of sink */
    static List<SpoolEntry> ofToken(byte[] token) {
        return FormedBytes.read(token, "what a checkpoint says of a sink's records", FORM, VERSION, in -> {
            List<SpoolEntry> entries = new ArrayList<>();
            long last = -1;
            long lastCheckpoint = Long.MIN_VALUE;
            for (int left = FormedBytes.count(in, ENTRY_BYTES); left > 0; left--) {
                SpoolEntry entry = new SpoolEntry(in.readLong(), in.readLong(), in.readLong(), in.readLong());
                if (entry.number <= last || entry.checkpoint <= lastCheckpoint || entry.records < 1) {
                    throw new IllegalArgumentException("files in no order");
                }
                last = entry.number;
                lastCheckpoint = entry.checkpoint;
                entries.add(entry);
            }
            return entries;
        });
    }
}
