package dev.millrace.engine.watermark;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.Scratch;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.TimeRange;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Drops late rows and says how far event time is ({@link PlanNode.Watermark}). Its host reads {@link #watermark} after
 * each batch and passes it on behind the rows; the end of input passes through, other watermarks from upstream end here.
 *
 * <p>Whether a row is late depends on the rows before it, so on no batch boundary. Most batches have no late row at all,
 * which the least time and the last bound of the batch tell: only the others are gone through row by row.
 *
 * <p>Of a table's rows, whose order within an epoch nobody knows, none is late because of another of its epoch.
 *
 * <p>A row whose time is infinite is in no window and moves no watermark: it is late, whatever came before it.
 */
public final class WatermarkOperator implements Operator {
    private static final int[] NOTHING = {};

    private final Schema schema;
    private final Optional<WindowSpec> lateBeyond;
    private final int timeColumn;
    private final int comparedColumn; // its own, or the window's end
    private final long delayMicros;
    private final long idleTimeoutMicros;
    private final LateBound bound;
    private final boolean ofVersions;
    private final boolean byEpoch;

    private OperatorContext context;
    private int[] kept = NOTHING; // only while a batch is taken apart, as what is late
    private int[] late = NOTHING;
    private long latest = Operator.NO_WATERMARK; // greatest time seen in the part, or what the clock said
    private long latestOfEpoch = Operator.NO_WATERMARK; // by epoch, greatest time seen in the one under way
    private long held = Part.NONE; // the least first time of the parts to come
    private long promised = Operator.NO_WATERMARK; // the greatest watermark that was told
    private long latestRow = Operator.NO_WATERMARK; // greatest time of a row, if times are the clock's
    private long leastOfBatch;
    private long latestOfBatch;

    public WatermarkOperator(PlanNode.Watermark node) {
        this.schema = node.schema();
        this.timeColumn = node.timeColumn();
        this.lateBeyond = node.lateBeyond();
        this.comparedColumn = lateBeyond.isPresent() && lateBeyond.get() instanceof WindowSpec.Attached attached
                ? attached.endColumn()
                : timeColumn;
        this.delayMicros = node.delayMicros();
        this.idleTimeoutMicros = node.idleTimeoutMicros();
        this.bound = LateBound.of(lateBeyond);
        this.ofVersions = node.input() instanceof PlanNode.Versions;
        this.byEpoch = node.byEpoch();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
    }

    /** The windows whose ends make rows late. */
    public Optional<WindowSpec> lateBeyond() {
        return lateBeyond;
    }

    /** After so long without a row nobody should wait for this input; 0 for never. */
    public long idleTimeoutMicros() {
        return idleTimeoutMicros;
    }

    /**
     * The rows of another part follow. They are judged by the rows before them in it, beginning with its first, and by what was
     * promised meanwhile.
     */
    public void begin(Part part) {
        latest = Math.max(part.firstMicros(), promised == NO_WATERMARK ? NO_WATERMARK : promised + delayMicros);
        held = part.nextMicros();
    }

    /** By epoch, no row to come is of the one that ends now. */
    public void endEpoch() {
        if (byEpoch) {
            latest = Math.max(latest, latestOfEpoch);
        }
    }

    /** No row older than this is expected; {@code NO_WATERMARK} before the first row. */
    public long watermark() {
        long watermark = Math.min(watermarkAt(latest), held == Part.NONE ? Part.NONE : watermarkAt(held));
        promised = Math.max(promised, watermark);
        return watermark;
    }

    /** Whether times are the machine's own, so that its host moves the watermark with {@link #clockSays}. */
    public boolean followsClock() {
        return idleTimeoutMicros == PlanNode.Watermark.FOLLOWS_CLOCK;
    }

    /** The clock shows this time; rows to come are not older. */
    public void clockSays(long epochMicros) {
        latest = Math.max(latest, epochMicros);
    }

    /** When a window may end next by the clock; {@code Long.MAX_VALUE} while no window can be open. */
    public long nextTickMicros() {
        return latestRow == Operator.NO_WATERMARK || latest - latestRow > bound.lifeMicros()
                ? Long.MAX_VALUE
                : bound.nextTick(watermark());
    }

    private long watermarkAt(long time) {
        return time < Operator.NO_WATERMARK + 1 + delayMicros
                ? Operator.NO_WATERMARK
                : Math.min(time - delayMicros, Operator.END_OF_INPUT - 1);
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        take(batch, output);
        latestRow = latest;
    }

    private void take(Batch batch, Output output) {
        boolean hasNulls = batch.hasNulls(timeColumn) || batch.hasNulls(comparedColumn);
        if (!hasNulls) {
            findExtremes(batch);
            long latestAfter = byEpoch ? latest : Math.max(latest, latestOfBatch);
            boolean isFinite = TimeRange.isFinite(leastOfBatch) && TimeRange.isFinite(latestOfBatch);
            if (isFinite
                    && (bound.nothingIsLate()
                            || comparedColumn == timeColumn && leastOfBatch >= bound.at(watermarkAt(latestAfter)))) {
                latest = latestAfter;
                latestOfEpoch = Math.max(latestOfEpoch, latestOfBatch);
                output.emit(batch);
                return;
            }
        }
        kept = Scratch.ints(batch.rowCount());
        late = Scratch.ints(batch.rowCount());
        try {
            takeApart(batch, output);
        } finally {
            Scratch.free(kept);
            Scratch.free(late);
            kept = NOTHING;
            late = NOTHING;
        }
    }

    private void takeApart(Batch batch, Output output) {
        int rows = select(batch);
        if (rows == batch.rowCount()) {
            output.emit(batch);
            return;
        }
        try (batch;
                RowBuffer buffer = new RowBuffer(schema, rows, context.allocator())) {
            if (rows > 0) {
                buffer.append(batch, kept, 0, rows);
                output.emit(buffer.take());
            }
        }
    }

    /** Two accumulators each, so that no comparison waits for the one before. */
    private void findExtremes(Batch batch) {
        int rows = batch.rowCount();
        long times = batch.dataAddress(timeColumn);
        long least0 = Long.MAX_VALUE;
        long least1 = Long.MAX_VALUE;
        long latest0 = Long.MIN_VALUE;
        long latest1 = Long.MIN_VALUE;
        int row = 0;
        for (; row + 2 <= rows; row += 2) {
            long time0 = Memory.getLong(times + 8L * row);
            long time1 = Memory.getLong(times + 8L * row + 8);
            least0 = Math.min(least0, time0);
            least1 = Math.min(least1, time1);
            latest0 = Math.max(latest0, time0);
            latest1 = Math.max(latest1, time1);
        }
        if (row < rows) {
            long time = Memory.getLong(times + 8L * row);
            least0 = Math.min(least0, time);
            latest0 = Math.max(latest0, time);
        }
        leastOfBatch = Math.min(least0, least1);
        latestOfBatch = Math.max(latest0, latest1);
    }

    /** Goes through the rows: fills {@code kept}, reports the others, and returns how many are kept. */
    private int select(Batch batch) {
        int rows = batch.rowCount();
        long times = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        long compared = batch.dataAddress(comparedColumn);
        long comparedValidity = batch.validityAddress(comparedColumn);
        boolean dropsNulls = !bound.nothingIsLate();
        int keptCount = 0;
        int lateCount = 0;
        long watermark = watermarkAt(latest);
        long least = bound.at(watermark);
        long nextChange = bound.nextChange(watermark);
        for (int row = 0; row < rows; row++) {
            boolean isNull = validity != 0 && !Memory.getBit(validity, row)
                    || comparedValidity != 0 && !Memory.getBit(comparedValidity, row);
            long time = isNull ? 0 : Memory.getLong(times + 8L * row);
            if (isNull ? dropsNulls : !TimeRange.isFinite(time) || Memory.getLong(compared + 8L * row) < least) {
                late[lateCount++] = row;
                continue;
            }
            kept[keptCount++] = row;
            if (isNull) {
                continue;
            }
            latestOfEpoch = Math.max(latestOfEpoch, time);
            if (!byEpoch && time > latest) {
                if (lateCount > 0) {
                    report(batch, lateCount, watermark);
                    lateCount = 0;
                }
                latest = time;
                watermark = watermarkAt(time);
                if (watermark >= nextChange) {
                    least = bound.at(watermark);
                    nextChange = bound.nextChange(watermark);
                }
            }
        }
        if (lateCount > 0) {
            report(batch, lateCount, watermark);
        }
        return keptCount;
    }

    private void report(Batch batch, int count, long watermark) {
        if (!ofVersions) {
            context.lateRows(batch, late, count, watermark);
            return;
        }
        int columns = schema.size() - 1; // the last is the number of the change, which is nobody's but ours
        FieldVector[] written = new FieldVector[columns];
        Arrays.setAll(written, batch::column);
        Schema ofRow = new Schema(schema.fields().subList(0, columns));
        try (Batch rows = Batch.view(ofRow, written, batch.rowCount(), batch.weights(), List.of(batch.retain()))) {
            context.lateRows(rows, late, count, watermark);
        }
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        DataOutput output = writer.keyGroup(StateFormats.WATERMARK, -1);
        output.writeLong(latest);
        output.writeLong(promised);
        output.writeLong(held);
    }

    @Override
    public void restore(StateReader reader) {
        List<Long> saved = new ArrayList<>();
        promised = Operator.END_OF_INPUT;
        reader.keyGroups(StateFormats.WATERMARK, (input, group) -> {
            saved.add(input.readLong());
            promised = Math.min(promised, input.readLong());
            held = Math.min(held, input.readLong());
        });
        promised = saved.isEmpty() ? NO_WATERMARK : promised;
        // Of several instances the one that is behind: its rows may come to this one, and were not late where they came
        // before.
        latest = saved.stream()
                .filter(micros -> micros != NO_WATERMARK)
                .reduce(Math::min)
                .orElse(NO_WATERMARK);
        latestRow = latest;
    }

    @Override
    public void close() {}
}
