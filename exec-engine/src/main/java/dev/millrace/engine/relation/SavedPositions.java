package dev.millrace.engine.relation;

import dev.millrace.connector.SourcePosition;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Positions of readers as bytes: how many, 4 bytes; then of each its length, 4 bytes, and the bytes. */
public final class SavedPositions {
    private static final int MOST_READERS = 1 << 16;

    private SavedPositions() {}

    public static void write(List<SourcePosition> positions, DataOutput out) throws IOException {
        out.writeInt(positions.size());
        for (SourcePosition position : positions) {
            byte[] bytes = position.bytes();
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    /** @throws MillraceException XX001 for what cannot be positions */
    public static List<SourcePosition> read(DataInput in) throws IOException {
        int count = checked(in.readInt(), MOST_READERS);
        List<SourcePosition> positions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[checked(in.readInt(), SourcePosition.MOST_BYTES)];
            in.readFully(bytes);
            positions.add(new SourcePosition(bytes));
        }
        return positions;
    }

    private static int checked(int count, int most) {
        if (count < 0 || count > most) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "a checkpoint has " + count + " where at most " + most + " can be");
        }
        return count;
    }
}
