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
    private long dense;

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
    }

    static boolean computes(OverCall call) {
        return switch (call.function()) {
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE -> true;
            case LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, EMA, AGGREGATE -> false;
        };
    }

    @Override
    public void begin(int from) {
        peers.reset();
        dense = 0;
        if (from > 0) {
            for (int call = 0; call < calls.size(); call++) {
                if (calls.get(call).function() == OverCall.Function.DENSE_RANK) {
                    dense = denseRank(from - 1, call);
                    break; // the others are equal
                }
            }
        }
    }

    /** Of a row that was computed; where its results are a failure, by the last one before it whose are not. */
    private long denseRank(int row, int call) {
        int known = row;
        while (known >= 0 && KeptRow.isFailure(KeptRow.result(rows.at(known)))) {
            known--;
        }
        long rank = known < 0 ? 0 : Memory.getLong(KeptRow.result(rows.at(known)) + resultCodec.slot(call));
        for (int next = known + 1; next <= row; next++) {
            peers.move(next);
            rank += next == peers.firstPeer() ? 1 : 0;
        }
        return rank;
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
                case ROW_NUMBER -> Memory.putLong(at, from + i + 1L);
                case RANK -> Memory.putLong(at, firstPeers[i] + 1L);
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
        return 0;
    }

    @Override
    public void close() {}
}
