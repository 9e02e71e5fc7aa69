package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Records of an input that were no rows, those of one commit. As bytes: 8 before them; 8 all of them; 4 those that follow; of each three texts (4 bytes length and
 * UTF-8): column, reason, and the record.
 *
 * @param before how many there were before these, ever
 * @param all how many there were
 * @param first the first of them, {@link #MOST} at most
 */
public record RejectedLines(long before, long all, List<Rejected> first) {
    /** Of how many the text is kept. */
    public static final int MOST = 16;

    private static final int MOST_CHARACTERS = 300;
    private static final int MOST_BYTES = MOST * (4 + 3 * (4 + 3 * MOST_CHARACTERS)) + 20;

    /**
     * One of them.
     *
     * @param column that failed; empty if the record as a whole did
     * @param reason why
     * @param text of the record; of each field the first characters, with others in the place of those that control something
     */
    public record Rejected(String column, String reason, String text) {
        public Rejected {
            column = shown(column);
            reason = shown(reason);
            text = shown(text);
        }
    }

    public RejectedLines {
        first = List.copyOf(first);
        if (first.size() > MOST || all < first.size()) {
            throw new IllegalArgumentException(first.size() + " of " + all + " rejected records");
        }
    }

    private static String shown(String text) {
        String cut = text.length() > MOST_CHARACTERS ? text.substring(0, MOST_CHARACTERS) : text;
        return cut.replaceAll("\\p{Cntrl}", "\ufffd");
    }

    byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(before);
            out.writeLong(all);
            out.writeInt(first.size());
            for (Rejected each : first) {
                text(each.column(), out);
                text(each.reason(), out);
                text(each.text(), out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nobody's: it is memory
        }
        return bytes.toByteArray();
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads them, whoever wrote them.
     *
     * @throws MillraceException XX001 if they are none
     */
    public static RejectedLines read(byte[] bytes) {
        if (bytes.length > MOST_BYTES) {
            throw damaged();
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            long before = in.getLong();
            long all = in.getLong();
            int count = in.getInt();
            boolean counted = before >= 0 && before <= Long.MAX_VALUE - MOST && all >= count;
            if (count < 0 || count > MOST || !counted) {
                throw damaged();
            }
            List<Rejected> first = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                first.add(new Rejected(text(in), text(in), text(in)));
            }
            if (in.hasRemaining()) {
                throw damaged();
            }
            return new RejectedLines(before, all, first);
        } catch (BufferUnderflowException e) {
            throw damaged();
        }
    }

    private static String text(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw damaged();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static MillraceException damaged() {
        return MillraceException.user(SqlState.DATA_CORRUPTED, "a note of rejected records is damaged");
    }
}
