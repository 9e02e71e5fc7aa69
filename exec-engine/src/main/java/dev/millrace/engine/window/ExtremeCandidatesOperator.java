package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * The first phase of a {@link WindowExtremeOperator} without keys: passes on the rows that reach the greatest (or least)
 * value seen so far in their slice, so that hardly any has to be exchanged. Of random values it is some hundred in a
 * hundred million. Rows exactly at a slice's start pass where they may be compared with the window before, whose extreme
 * is known elsewhere. Late rows pass, too, so that they are counted once, behind the exchange.
 *
 * <p>What it knows is only ever a reason to pass on less: it keeps nothing across a restart.
 */
public final class ExtremeCandidatesOperator implements Operator {
    private final WindowExtreme node;
    private final Slicing slicing;
    private final SliceRows slices;
    private final boolean fitsWord;
    private final ExtremeValues values;
    private final Map<Long, Long> extremes = new HashMap<>(); // by the end of the slice
    private OperatorContext context;
    private long watermark = NO_WATERMARK;
    private int[] candidates = new int[0];
    private int count; // of candidates

    public ExtremeCandidatesOperator(WindowExtreme node) {
        if (node.phase() != Phase.PARTIAL || !node.keys().isEmpty()) {
            throw new IllegalArgumentException("only a partial phase without keys has candidates");
        }
        this.node = node;
        this.slicing = Slicing.of(node.window());
        this.slices = new SliceRows(slicing);
        this.fitsWord = ExtremeValues.fits(node.input().schema().type(node.valueColumn()));
        this.values = new ExtremeValues(node.input().schema().type(node.valueColumn()), node.maximum());
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        if (!fitsWord) {
            output.emit(batch); // such values would have to be compared as rows: no cheaper than to send them
            return;
        }
        try (batch) {
            slices.split(batch, node.timeColumn(), watermark);
            if (candidates.length < batch.rowCount()) {
                candidates = new int[batch.rowCount()];
            }
            count = slices.lateCount();
            System.arraycopy(slices.late(), 0, candidates, 0, count);
            if (slices.slices() > 0) {
                long[] loaded = values.load(batch, node.valueColumn());
                for (int i = 0; i < slices.slices(); i++) {
                    select(batch, slices.end(i), slices.rows(i), slices.count(i), loaded);
                }
            }
            if (count == batch.rowCount()) {
                output.emit(batch.retain());
            } else if (count > 0) {
                output.emit(chosen(batch));
            }
        } finally {
            slices.end();
        }
        context.metrics().stateSize(16L * extremes.size(), extremes.size());
    }

    private void select(Batch batch, long end, int[] rows, int rowCount, long[] loaded) {
        long validity = batch.validityAddress(node.valueColumn());
        long extreme = extremes.getOrDefault(end, Long.MIN_VALUE);
        for (int i = 0; i < rowCount; i++) {
            int row = rows[i];
            if (loaded[row] > extreme && (validity == 0 || Memory.getBit(validity, row))) {
                extreme = loaded[row];
            }
        }
        extremes.put(end, extreme);
        long start = node.closedEnd() ? slicing.sliceStart(end) : 0;
        long times = batch.dataAddress(node.timeColumn());
        for (int i = 0; i < rowCount; i++) {
            int row = rows[i];
            boolean isBoundary = node.closedEnd() && Memory.getLong(times + 8L * row) == start;
            if ((loaded[row] == extreme || isBoundary) && (validity == 0 || Memory.getBit(validity, row))) {
                candidates[count++] = row;
            }
        }
    }

    private Batch chosen(Batch batch) {
        try (RowBuffer rows = new RowBuffer(node.schema(), count, context.allocator())) {
            rows.append(batch, candidates, 0, count);
            return rows.take();
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = watermarkMicros;
        for (Iterator<Long> ends = extremes.keySet().iterator(); ends.hasNext(); ) {
            if (slicing.lastWindowEnd(ends.next()) <= watermark) {
                ends.remove();
            }
        }
        return true;
    }

    @Override
    public void close() {}
}
