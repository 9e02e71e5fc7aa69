package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.OperatorContext;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** All calls of a node together: computes and encodes the results of consecutive rows. */
final class Computation implements AutoCloseable {
    /** Rows computed together: their results stay in cache until they are encoded. */
    static final int MOST_ROWS = 1024;

    /** Receives the results of a row, which are valid during the call only. */
    interface Receiver {
        void accept(int row, long bytes, int length);

        /** A row whose results cannot be computed, where the host keeps note of such. */
        void failed(int row, MillraceException why);
    }

    private final Schema results;
    private final RowCodec resultCodec;
    private final int[] resultColumns;
    private final List<Calls> calls = new ArrayList<>();
    private final StateMemory nullMemory;
    private final OperatorContext context;

    Computation(Over node, OrderedRows rows, RowCodec resultCodec, OperatorContext context) {
        this.context = context;
        BufferAllocator allocator = context.allocator();
        Schema input = node.input().schema();
        this.results = resultsOf(node);
        this.resultCodec = resultCodec;
        this.resultColumns = IntStream.range(0, results.size()).toArray();
        this.nullMemory = new StateMemory(allocator);
        long nulls = nullMemory.allocate(rows.codec().fixedBytes());
        rows.codec().writeNulls(nulls);
        calls.add(new NumberCalls(node.calls(), results, rows, resultCodec, allocator));
        Map<Frame, List<Integer>> sliding = new LinkedHashMap<>();
        Map<Frame, List<Integer>> collected = new LinkedHashMap<>();
        for (int at = 0; at < node.calls().size(); at++) {
            OverCall call = node.calls().get(at);
            Field field = results.field(at);
            if (ValueCalls.computes(call)) {
                calls.add(new ValueCalls(call, at, field, rows, nulls, allocator));
            } else if (AverageCalls.computes(call)) {
                calls.add(new AverageCalls(call, at, field, rows, resultCodec, allocator));
            } else if (ExtremeCalls.computes(call)) {
                calls.add(new ExtremeCalls(call, at, field, rows, nulls, allocator));
            } else if (call.aggregate().isPresent()) {
                Map<Frame, List<Integer>> by =
                        SlidingCalls.computes(call.aggregate().get()) ? sliding : collected;
                by.computeIfAbsent(call.frame(), any -> new ArrayList<>()).add(at);
            }
        }
        sliding.forEach((frame, places) -> calls.add(
                new SlidingCalls(aggregates(node, places), array(places), frame, input, results, rows, allocator)));
        collected.forEach((frame, places) -> calls.add(
                new CollectedCalls(aggregates(node, places), array(places), frame, input, results, rows, allocator)));
    }

    /** The columns behind those of the input. */
    static Schema resultsOf(Over node) {
        int width = node.input().schema().size();
        return new Schema(node.schema().fields().subList(width, node.schema().size()));
    }

    private static List<AggregateCall> aggregates(Over node, List<Integer> places) {
        return places.stream()
                .map(place -> node.calls().get(place).aggregate().orElseThrow())
                .toList();
    }

    private static int[] array(List<Integer> places) {
        return places.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Words that the calls keep per partition. */
    int words() {
        return 2 * calls.size();
    }

    /** The partition that is shown next has these words. */
    void select(long words) {
        for (int i = 0; i < calls.size(); i++) {
            calls.get(i).select(words + 16L * i);
        }
    }

    void changed(int index, long row, boolean came) {
        for (Calls each : calls) {
            each.changed(index, row, came);
        }
    }

    void endChanges() {
        calls.forEach(Calls::endChanges);
    }

    /** Frees what the words selected stand for. */
    void forget() {
        calls.forEach(Calls::forget);
    }

    /** Computes rows of the partition that is shown. */
    void compute(int from, int to, Receiver receiver) {
        if (from >= to) {
            return;
        }
        boolean isBegun = false;
        for (int at = from; at < to; at += MOST_ROWS) {
            Interrupt.checkCurrent();
            if (!isBegun) {
                begin(at);
            }
            isBegun = computePart(at, Math.min(to, at + MOST_ROWS), receiver);
        }
    }

    private void begin(int from) {
        for (Calls each : calls) {
            each.begin(from);
        }
    }

    /** Returns whether the calls can go on behind these rows without beginning anew. */
    private boolean computePart(int from, int to, Receiver receiver) {
        FieldVector[] vectors = new FieldVector[results.size()];
        try {
            for (Calls each : calls) {
                each.compute(from, to, vectors);
            }
        } catch (RuntimeException | Error e) {
            Closing.all(Arrays.stream(vectors).filter(vector -> vector != null).toList());
            if (e instanceof RuntimeException failure) {
                computeApart(from, to, failure, receiver);
                return false;
            }
            throw e;
        }
        try (Batch batch = Batch.of(results, vectors, to - from)) {
            resultCodec.encode(batch, resultColumns, Rows.all(to - from), to - from);
        }
        for (int row = from; row < to; row++) {
            receiver.accept(row, resultCodec.address(row - from), resultCodec.length(row - from));
        }
        return true;
    }

    /** By halves, so that a row that fails costs its neighbours a few more steps and not one each. */
    private void computeApart(int from, int to, RuntimeException failure, Receiver receiver) {
        MillraceException why =
                RowFailures.kept(failure instanceof ArithmeticException ? Wide.outOfRange() : failure, context);
        if (to - from == 1) {
            receiver.failed(from, why);
            return;
        }
        Interrupt.checkCurrent();
        int middle = (from + to) >>> 1;
        begin(from);
        computePart(from, middle, receiver);
        begin(middle);
        computePart(middle, to, receiver);
    }

    /** The first row that rows behind {@code row}, which was computed last, still depend on. */
    int stillNeeded(int row) {
        return calls.stream().mapToInt(each -> each.stillNeeded(row)).min().orElse(row + 1);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(calls);
        calls.clear();
        all.add(nullMemory);
        Closing.all(all);
    }
}
