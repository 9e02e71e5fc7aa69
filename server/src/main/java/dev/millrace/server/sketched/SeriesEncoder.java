package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Makes sketches of the series of a stretch, one series after the other. For one thread. */
final class SeriesEncoder {
    private static final EncoderOptions OPTIONS =
            EncoderOptions.defaults().withSegmentRows(1 << 16).selfContained(true);

    private static final long USUAL_SEGMENT_MICROS = 3_600_000_000L;
    private static final int USUAL_LEAST_ROWS = 1024; // what all sketches have in common weighs little beside so many

    private final SketchedForm form;
    private final StretchColumns columns;
    private final SketchSchema schema;
    private final List<Batch> batches;
    private final Map<Integer, byte[]> sketches = new TreeMap<>();
    private int begun; // how many rows of the series are in closed sketches

    SeriesEncoder(SketchedForm form, StretchColumns columns, List<Batch> batches) {
        this.form = form;
        this.columns = columns;
        this.schema = columns.schema().orElseThrow();
        this.batches = batches;
    }

    /** What is stored of sketches, by the row of the stretch where each begins. */
    Map<Integer, byte[]> sketches() {
        return sketches;
    }

    /**
     * Encodes a series.
     *
     * @param rows of the stretch, in their order
     * @param from the first of the series
     * @param to behind its last
     */
    void encode(int number, KeyBytes key, int[] rows, int from, int to) {
        begun = from;
        StreamEncoder encoder = encoder(key, number, rows);
        long segment = form.clause().segmentMicros().orElse(USUAL_SEGMENT_MICROS);
        int leastRows = form.clause().segmentMicros().isPresent() ? 1 : USUAL_LEAST_ROWS;
        long end = 0; // of the sketch under way, by its first row
        int batch = 0;
        int first = 0; // row of the batch
        for (int i = from; i < to; i++) {
            while (rows[i] - first >= batches.get(batch).rowCount()) {
                first += batches.get(batch).rowCount();
                batch++;
            }
            Batch at = batches.get(batch);
            int row = rows[i] - first;
            long time = columns.isTimed()
                    ? Memory.getLong(at.dataAddress(form.eventTime().orElseThrow()) + 8L * row)
                    : i - from;
            if (columns.isTimed() && encoder.waitingRows() >= leastRows && time >= end) {
                encoder.flush();
            }
            end = encoder.waitingRows() == 0 ? end(time, segment) : end;
            put(encoder.row(time), at, row);
        }
        encoder.flush();
        form.states().keep(key, encoder.state());
    }

    /** The next multiple of a segment's length: what is asked by windows that have some segments each needs no row of them. */
    private static long end(long time, long segment) {
        long begin = time - Math.floorMod(time, segment);
        return begin > Long.MAX_VALUE - segment || begin > time ? Long.MAX_VALUE : begin + segment;
    }

    private StreamEncoder encoder(KeyBytes key, int number, int[] rows) {
        StreamEncoder encoder = form.states()
                .of(key)
                .map(state -> StreamEncoder.restore(
                        state, OPTIONS, closed -> add(number, rows, closed.rows(), closed.bytes())))
                .orElseGet(() ->
                        new StreamEncoder(schema, OPTIONS, closed -> add(number, rows, closed.rows(), closed.bytes())));
        if (!encoder.schema().equals(schema)) {
            encoder.alter(schema);
        }
        return encoder;
    }

    private void add(int number, int[] rows, int count, byte[] bytes) {
        sketches.put(rows[begun], NumberedSketch.stored(number, bytes));
        begun += count;
    }

    private void put(Observations to, Batch batch, int row) {
        for (int f = 0; f < columns.features().size(); f++) {
            int column = columns.features().get(f);
            if (batch.hasNulls(column) && !Memory.getBit(batch.validityAddress(column), row)) {
                continue;
            }
            DataType type = schema.feature(f).type();
            long data = batch.dataAddress(column);
            switch (type.kind()) {
                case DOUBLE -> to.number(f, Memory.getDouble(data + 8L * row));
                case REAL -> to.number(f, Memory.getFloat(data + 4L * row));
                case BIGINT -> to.whole(f, Memory.getLong(data + 8L * row));
                case INTEGER -> to.whole(f, Memory.getInt(data + 4L * row));
                case SMALLINT -> to.whole(f, Memory.getShort(data + 2L * row));
                case BOOLEAN -> to.bool(f, Memory.getBit(data, row));
                default -> {
                    int begin = Memory.getInt(batch.offsetsAddress(column) + 4L * row);
                    int end = Memory.getInt(batch.offsetsAddress(column) + 4L * (row + 1));
                    to.text(f, KeptTexts.at(data + begin, end - begin));
                }
            }
        }
    }
}
