package dev.millrace.connectors.envelope;

import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.time.Clock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Decodes stretches of some of the records as records of their own, by another format. Owned by one thread, but for what that waits for.
 */
final class PartDecoder implements DecoderContext, AutoCloseable {
    /** Why a stretch became no row. @param column empty if it is none as a whole */
    record Failure(String column, MillraceException reason) {}

    /**
     * What the stretches became; the columns are the receiver's.
     *
     * @param rowOf of each record the row that was made of its stretch; {@link #NONE} without
     */
    record Parts(DecodedRows rows, int[] rowOf) implements AutoCloseable {
        static final int NONE = -1;

        @Override
        public void close() {
            rows.close();
        }
    }

    private final DecoderContext context;
    private final RecordDecoder decoder;
    private final EncodedRecords stretches = new EncodedRecords();
    private final Map<Integer, Failure> failures = new HashMap<>(); // by record
    private int[] recordOf = new int[64]; // of each stretch
    private int records;

    /** @param format all of whose columns are decoded */
    PartDecoder(RecordFormat format, DecoderContext context) {
        this.context = context;
        this.decoder = format.decoder(
                IntStream.range(0, format.schema().size()).boxed().toList(), this);
    }

    /** Begins anew, with stretches of these records. */
    void begin(EncodedRecords of) {
        stretches.clear();
        stretches.place(of.address(), of.end());
        failures.clear();
        records = of.count();
    }

    /** Adds a stretch of a record, of which there is one at most; in the order of records. */
    void add(int record, int from, int to, long position) {
        if (recordOf.length == stretches.count()) {
            recordOf = Arrays.copyOf(recordOf, 2 * recordOf.length);
        }
        recordOf[stretches.count()] = record;
        stretches.add(from, to, position);
    }

    /** Decodes what was added; empty if something is to be waited for. */
    Optional<Parts> decode() {
        failures.clear();
        return decoder.decode(stretches).map(rows -> {
            int[] rowOf = new int[records];
            Arrays.fill(rowOf, Parts.NONE);
            for (int row = 0; row < rows.rows(); row++) {
                rowOf[recordOf[rows.record(row)]] = row;
            }
            return new Parts(rows, rowOf);
        });
    }

    /** Why the stretch of a record became no row; empty if it did, or there is none. */
    Optional<Failure> failure(int record) {
        return Optional.ofNullable(failures.get(record));
    }

    Optional<String> waitsFor() {
        return decoder.waitsFor();
    }

    // ---- what the decoder asks -------------------------------------------------------------------------------------

    @Override
    public BufferAllocator allocator() {
        return context.allocator();
    }

    @Override
    public Clock clock() {
        return context.clock();
    }

    /** Held back: who owns this tells of each record once, in their order. */
    @Override
    public void reject(int stretch, String column, MillraceException reason) {
        failures.put(recordOf[stretch], new Failure(column, reason));
    }

    @Override
    public void note(String text) {
        context.note(text);
    }

    @Override
    public void wakeUp() {
        context.wakeUp();
    }

    @Override
    public void close() {
        decoder.close();
    }
}
