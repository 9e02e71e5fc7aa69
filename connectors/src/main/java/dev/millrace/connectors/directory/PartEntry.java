package dev.millrace.connectors.directory;

import dev.millrace.kept.FormedBytes;
import java.util.ArrayList;
import java.util.List;

/**
 * A file as a checkpoint has it.
 *
 * @param place directory below the sink's, by "/"; empty for the sink's own
 * @param bytes of it
 * @param complete else it is gone on with
 */
record PartEntry(String place, long number, long bytes, boolean complete) {
    private static final String FORM = "files";
    private static final int VERSION = 1;
    private static final int LEAST_BYTES = 19;

    /** Files, and the last number that was given. */
    record Token(long lastNumber, List<PartEntry> entries) {
        Token {
            entries = List.copyOf(entries);
        }

        byte[] bytes() {
            return FormedBytes.of(FORM, VERSION, out -> {
                out.writeLong(lastNumber);
                out.writeInt(entries.size());
                for (PartEntry entry : entries) {
                    out.writeUTF(entry.place);
                    out.writeLong(entry.number);
                    out.writeLong(entry.bytes);
                    out.writeBoolean(entry.complete);
                }
            });
        }

        /** @throws dev.millrace.error.MillraceException XX001 if it is damaged, or of another kind of sink */
        static Token of(byte[] token) {
            return FormedBytes.read(token, "what a checkpoint says of a sink's files", FORM, VERSION, in -> {
                long last = in.readLong();
                List<PartEntry> entries = new ArrayList<>();
                for (int left = FormedBytes.count(in, LEAST_BYTES); left > 0; left--) {
                    PartEntry entry = new PartEntry(in.readUTF(), in.readLong(), in.readLong(), in.readBoolean());
                    if (entry.number < 1 || entry.number > last || entry.bytes < 0 || !isBelow(entry.place)) {
                        throw new IllegalArgumentException("file " + entry.number + " in \"" + entry.place + "\"");
                    }
                    entries.add(entry);
                }
                return new Token(last, entries);
            });
        }

        private static boolean isBelow(String place) {
            return !place.startsWith("/") && !List.of(place.split("/")).contains("..");
        }
    }
}
