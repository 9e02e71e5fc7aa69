package dev.millrace.capture;

import dev.millrace.connector.SourcePosition;
import dev.millrace.kept.FormedBytes;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * How far a table is: Debezium's offset, as its JSON, and the definitions of tables that it had recorded by then. Immutable.
 *
 * <pre>
 *   isWhole 1 | offset: length 4, bytes | records: count 4, of each: length 4, bytes
 * </pre>
 *
 * @param isWhole whether the table has been read to the end once; else reading begins anew, with no rows
 * @param offset empty for none
 */
record CapturedPosition(boolean isWhole, byte[] offset, List<byte[]> definitions) {
    private static final String FORM = "capture";
    private static final int VERSION = 1;

    static final CapturedPosition NOTHING = new CapturedPosition(false, new byte[0], List.of());

    CapturedPosition {
        offset = offset.clone();
        definitions = List.copyOf(definitions);
    }

    SourcePosition toPosition() {
        return SourcePosition.of(FORM, VERSION, out -> {
            out.writeBoolean(isWhole);
            out.writeInt(offset.length);
            out.write(offset);
            out.writeInt(definitions.size());
            for (byte[] definition : definitions) {
                out.writeInt(definition.length);
                out.write(definition);
            }
        });
    }

    static CapturedPosition of(SourcePosition position) {
        return position.read(FORM, VERSION, in -> {
            boolean isWhole = in.readBoolean();
            byte[] offset = bytes(in);
            int count = FormedBytes.count(in, Integer.BYTES);
            List<byte[]> definitions = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                definitions.add(bytes(in));
            }
            return new CapturedPosition(isWhole, offset, definitions);
        });
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[FormedBytes.count(in, 1)];
        in.readFully(bytes);
        return bytes;
    }
}
