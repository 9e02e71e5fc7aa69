package dev.millrace.engine.join;

import dev.millrace.operator.FrozenState;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.IOException;

/** The rows of a join as of one moment, behind its watermark of then. The join's thread. */
final class FrozenJoin implements FrozenState {
    private final FrozenState rows;
    private final StateFormat format;
    private final long watermark;
    private boolean isBegun;

    private FrozenJoin(FrozenState rows, StateFormat format, long watermark) {
        this.rows = rows;
        this.format = format;
        this.watermark = watermark;
    }

    /** @param format the name under which they are written, in group -1 of which the watermark is */
    static FrozenState of(FrozenState rows, StateFormat format, long watermark) {
        return new FrozenJoin(rows, format, watermark);
    }

    @Override
    public boolean isWhole() {
        return rows.isWhole();
    }

    @Override
    public boolean writeMore(StateWriter writer) throws IOException {
        if (!isBegun) {
            writer.keyGroup(format, -1).writeLong(watermark);
            isBegun = true;
        }
        return rows.writeMore(writer);
    }

    @Override
    public void close() {
        rows.close();
    }
}
