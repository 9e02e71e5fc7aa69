package dev.millrace.connectors.jdbc;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.outbox.OutboxRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;

/** Changes as an outbox has them: a byte that says which kind it is, and its bytes. */
final class SpooledChanges implements OutboxRows {
    private static final WrittenChange.Kind[] KINDS = WrittenChange.Kind.values();

    private final ChangeMaker maker;

    /** @param maker is closed with this */
    SpooledChanges(ChangeMaker maker) {
        this.maker = maker;
    }

    @Override
    public void write(Batch batch, Records records) {
        maker.write(batch, change -> add(change, records));
    }

    @Override
    public void endEpoch(Records records) {
        maker.endEpoch(change -> add(change, records));
    }

    private static void add(WrittenChange change, Records records) {
        byte[] bytes = new byte[1 + change.bytes().length];
        bytes[0] = (byte) change.kind().ordinal();
        System.arraycopy(change.bytes(), 0, bytes, 1, change.bytes().length);
        records.add(bytes, 0, bytes.length);
    }

    /** The change that was made to these bytes. */
    static WrittenChange read(ByteBuffer from) {
        int kind = from.hasRemaining() ? from.get() : -1;
        if (kind < 0 || kind >= KINDS.length) {
            throw MillraceException.external(SqlState.DATA_CORRUPTED, "a change of a sink is of kind " + kind);
        }
        byte[] bytes = new byte[from.remaining()];
        from.get(bytes);
        return new WrittenChange(KINDS[kind], bytes);
    }

    @Override
    public void close() {
        maker.close();
    }
}
