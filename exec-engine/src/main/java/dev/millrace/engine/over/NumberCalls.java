package dev.millrace.engine.over;

import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** What depends on places alone: ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST and NTILE. */
final class NumberCalls implements Calls {
    private final List<OverCall> calls;
    private final Schema results;
    private final OrderedRows rows;
    private final RowCodec resultCodec;
    private final BufferAllocator allocator;
    private final FrameCursor peers;
    private final boolean any;
    private final boolean ranks;
    private long dense;
    private long dropped; // rows of the partition before those that are shown

    /**
     * @param calls of the node; others than these are passed over
     * @param results of all calls
     */
    NumberCalls(
            List<OverCall> calls, Schema results, OrderedRows rows, RowCodec resultCodec, BufferAllocator allocator) {
        this.calls = calls;
        this.results = results;
        this.rows = rows;
        this.resultCodec = resultCodec;
        this.allocator = allocator;
        this.peers = new FrameCursor(Frame.TO_CURRENT, rows);
        this.any = calls.stream().anyMatch(NumberCalls::computes);
        this.ranks = calls.stream().anyMatch(call -> call.function() == OverCall.Function.RANK);
    }

    static boolean computes(OverCall call) {
        return switch (call.function()) {
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE -> true;
            case LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, EMA, AGGREGATE -> false;
        };
    }

    /** Rows before those that are shown may be forgotten: the numbers go on from the last ones that are known. */
    @Override
    public void begin(int from) {
        peers.reset();
        dense = 0;
        dropped = 0;
        int known = lastKnown(from - 1);
        for (int call = 0; known >= 0 && call < calls.size(); call++) {
            switch (calls.get(call).function()) {
                case ROW_NUMBER -> dropped = number(known, call) - known - 1;
                case RANK -> dropped = number(known, call) - rows.firstPeer(known) - 1;
                case DENSE_RANK -> dense = number(known, call);
                default -> {}
            }
        }
        for (int next = known + 1; next < from; next++) {
            peers.move(next);
            dense += next == peers.firstPeer() ? 1 : 0;
        }
    }

    /** The last row up to this one whose results are no failure; -1 if there is none. */
    private int lastKnown(int row) {
        int known = row;
        while (known >= 0 && KeptRow.isFailure(KeptRow.result(rows.at(known)))) {
            known--;
        }
        return known;
    }

    private long number(int row, int call) {
        return Memory.getLong(KeptRow.result(rows.at(row)) + resultCodec.slot(call));
    }

    @Override
    public void compute(int from, int to, FieldVector[] into) {
        int count = to - from;
        int[] firstPeers = new int[count];
        int[] ends = new int[count];
        long[] denseRanks = new long[count];
        for (int i = 0; i < count; i++) {
            int row = from + i;
            peers.move(row);
            firstPeers[i] = peers.firstPeer();
            ends[i] = peers.endOfPeers();
            dense += row == firstPeers[i] ? 1 : 0;
            denseRanks[i] = dense;
        }
        for (int call = 0; call < calls.size(); call++) {
            if (computes(calls.get(call))) {
                Field field = results.field(call);
                FieldVector vector = Vectors.allocate(field, count, 0, allocator);
                into[call] = vector;
                fill(calls.get(call), vector.getDataBufferAddress(), from, count, firstPeers, ends, denseRanks);
                Vectors.setAllValid(vector, count);
                Vectors.finish(vector, count);
            }
        }
    }

    private void fill(OverCall call, long data, int from, int count, int[] firstPeers, int[] ends, long[] denseRanks) {
        double all = rows.count();
        for (int i = 0; i < count; i++) {
            long at = data + 8L * i;
            switch (call.function()) {
                case ROW_NUMBER -> Memory.putLong(at, dropped + from + i + 1);
                case RANK -> Memory.putLong(at, dropped + firstPeers[i] + 1);
                case DENSE_RANK -> Memory.putLong(at, denseRanks[i]);
                case PERCENT_RANK -> Memory.putDouble(at, all == 1 ? 0 : firstPeers[i] / (all - 1));
                case CUME_DIST -> Memory.putDouble(at, ends[i] / all);
                case NTILE -> Memory.putInt(data + 4L * i, bucket(from + i, call.parameter()));
                case LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, EMA, AGGREGATE ->
                    throw new IllegalStateException("no number: " + call);
            }
        }
    }

    /** The first buckets have a row more where the rows do not divide. */
    private int bucket(int row, long buckets) {
        long size = rows.count() / buckets;
        long larger = rows.count() % buckets;
        long inLarger = larger * (size + 1);
        return (int) (row < inLarger ? row / (size + 1) + 1 : larger + (row - inLarger) / size + 1);
    }

    @Override
    public int stillNeeded(int row) {
        int known = any ? lastKnown(row) : row + 1;
        return ranks && known > 0 ? rows.firstPeer(known) : Math.max(0, known);
    }

    @Override
    public void close() {}
}
