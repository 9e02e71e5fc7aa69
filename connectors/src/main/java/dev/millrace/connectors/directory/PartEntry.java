package dev.millrace.connectors.directory;

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
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            try {
                out.writeUTF(FORM);
                out.writeInt(VERSION);
                out.writeLong(lastNumber);
                out.writeInt(entries.size());
                for (PartEntry entry : entries) {
                    out.writeUTF(entry.place);
                    out.writeLong(entry.number);
                    out.writeLong(entry.bytes);
                    out.writeBoolean(entry.complete);
                }
            } catch (IOException e) {
                throw MillraceException.internal("memory cannot be written to", e);
            }
            return bytes.toByteArray();
        }

        /** @throws MillraceException XX001 if it is damaged, or of another kind of sink */
        static Token of(byte[] token) {
            try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(token))) {
                String form = in.readUTF();
                int version = in.readInt();
                if (!form.equals(FORM) || version != VERSION) {
                    throw damaged("is of \"" + form + "\", version " + version);
                }
                long last = in.readLong();
                int count = in.readInt();
                if (count < 0 || count > in.available() / LEAST_BYTES) {
                    throw damaged("names " + count + " files in " + in.available() + " bytes");
                }
                List<PartEntry> entries = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    PartEntry entry = new PartEntry(in.readUTF(), in.readLong(), in.readLong(), in.readBoolean());
                    if (entry.number < 1 || entry.number > last || entry.bytes < 0 || !isBelow(entry.place)) {
                        throw damaged("names the file " + entry.number + " in \"" + entry.place + "\"");
                    }
                    entries.add(entry);
                }
                if (in.available() > 0) {
                    throw damaged("has " + in.available() + " bytes too many");
                }
                return new Token(last, entries);
            } catch (IOException e) {
                throw damaged("lacks bytes");
            }
        }

        private static boolean isBelow(String place) {
            return !place.startsWith("/") && !List.of(place.split("/")).contains("..");
        }

        private static MillraceException damaged(String how) {
            return MillraceException.external(
                    SqlState.DATA_CORRUPTED, "what a checkpoint says of a sink's files " + how);
        }
    }
}
