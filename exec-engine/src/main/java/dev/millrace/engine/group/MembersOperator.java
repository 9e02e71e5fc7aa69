package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.calc.CalcOperator;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.group.GroupMembers.Change;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.join.LookupJoinOperator;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.RowByRow;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Filters and projects rows for all members of a group at once: a row meets those that it concerns, found by hash and by range, and each pair gives what the member's
 * query would give of the row. A pair that fails is the failure of its member, and no one else's. Where members have more above their filters, their rows go on to {@link
 * MemberPipelines}.
 *
 * <pre>
 *   rows -> numbered -> matching (LookupJoinOperator) -> computing (CalcOperator) -> member, its columns
 *                          ^ members that joined and left, between two epochs
 * </pre>
 */
public final class MembersOperator implements Operator, RowByRow {
    private final GroupPlan plan;
    private final GroupMembers members;
    private final LookupJoinOperator matching;
    private final CalcOperator computing;
    private final int rowColumn;
    private final Optional<MemberPipelines> pipelines; // of members that keep something
    private final Set<Member> failed = new HashSet<>(); // in the epoch under way
    private OperatorContext context;
    private Optional<MillraceException> failure = Optional.empty(); // of the pair at hand
    private boolean isOnePair; // at hand
    private long ended = Long.MIN_VALUE; // epoch
    private long rowsBefore;

    /**
     * @param operators makes those that members have above their filters, not yet open
     * @param heap on which these are
     */
    public MembersOperator(
            GroupPlan plan, GroupMembers members, Function<PlanNode, Operator> operators, HeapBudget heap) {
        this.plan = plan;
        this.members = members;
        this.matching = new LookupJoinOperator(plan.matching());
        this.computing = new CalcOperator(plan.computing());
        this.rowColumn = plan.rows().size() - 1;
        this.pipelines = plan.keepsState()
                ? Optional.of(new MemberPipelines(plan, members, operators, heap, failed::add))
                : Optional.empty();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        OperatorContext ofPairs = new PairContext();
        matching.open(ofPairs);
        computing.open(ofPairs);
        pipelines.ifPresent(each -> each.open(newContext));
    }

    /** Pairs count as rows: one row may be of interest to very many. */
    @Override
    public long rowsDone() {
        return rowsBefore + computing.rowsDone();
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        Batch numbered;
        try (batch) {
            change();
            numbered = numbered(batch);
        }
        rowsBefore += numbered.rowCount();
        Output pairs = new Pairs(output);
        matching.process(0, numbered, pairs);
        matching.onEpochEnd(ended, pairs); // members are what they are: nothing is waited for
    }

    /** With the number of each row as a further column. */
    private Batch numbered(Batch batch) {
        FieldVector numbers = Vectors.allocate(GroupPlan.ROW, batch.rowCount(), 0, context.allocator());
        for (int row = 0; row < batch.rowCount(); row++) {
            Memory.putLong(numbers.getDataBufferAddress() + 8L * row, rowsBefore + row + 1);
        }
        Vectors.setAllValid(numbers, batch.rowCount());
        Vectors.finish(numbers, batch.rowCount());
        FieldVector[] columns = new FieldVector[rowColumn + 1];
        for (int column = 0; column < rowColumn; column++) {
            columns[column] = batch.column(column);
        }
        columns[rowColumn] = numbers;
        return Batch.view(plan.rows(), columns, batch.rowCount(), batch.weights(), List.of(batch.retain(), numbers));
    }

    /** Those who joined or left by now. */
    private void change() {
        List<Change> changes = members.take(Math.max(ended, members.beganAfter()));
        for (int from = 0; from < changes.size(); ) { // by stretches of one kind, in their order
            boolean joins = changes.get(from).joins();
            List<List<Expression>> rows = new ArrayList<>();
            for (; from < changes.size() && changes.get(from).joins() == joins; from++) {
                Member member = changes.get(from).member();
                if (joins) {
                    member.begins(rowsBefore);
                    pipelines.ifPresent(each -> each.join(member));
                } else {
                    pipelines.ifPresent(each -> each.leave(member));
                    failed.remove(member);
                }
                rows.add(member.row());
            }
            take(rows, joins);
        }
    }

    /** What a member's own operators keep, the lowest first; empty if they keep nothing. While the group's epochs are at rest. */
    public Optional<List<StateParts>> states(Member member) {
        change();
        return pipelines.flatMap(each -> each.states(member));
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        pipelines.ifPresent(each -> each.watermark(watermarkMicros));
        return true;
    }

    private void take(List<List<Expression>> rows, boolean joins) {
        List<Batch> batches = new ArrayList<>(
                ConstantRows.of(new PlanNode.Values(rows, plan.members()), context.batchRows(), context.allocator()));
        try {
            while (!batches.isEmpty()) {
                Batch batch = batches.remove(0);
                matching.process(1, joins ? batch : takenBack(batch), NOTHING);
            }
        } finally {
            Closing.all(batches);
        }
    }

    private Batch takenBack(Batch batch) {
        BigIntVector weights = Vectors.allocateWeights(batch.rowCount(), context.allocator());
        for (int row = 0; row < batch.rowCount(); row++) {
            Memory.putLong(weights.getDataBufferAddress() + 8L * row, -1);
        }
        Vectors.finish(weights, batch.rowCount());
        FieldVector[] columns = new FieldVector[batch.columnCount()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = batch.column(column);
        }
        return Batch.view(plan.members(), columns, batch.rowCount(), Optional.of(weights), List.of(batch, weights));
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        change(); // those who are there in this epoch
        pipelines.ifPresent(each -> each.endEpoch(epoch, output));
        ended = epoch;
        change();
        for (Member member : failed) {
            member.epochEnd(epoch);
            members.failed(member);
        }
        failed.clear();
        return true;
    }

    /** The batch stays the caller's. */
    private void compute(Batch pairs, Output output) {
        try {
            computing.process(0, pairs.retain(), output);
        } catch (MillraceException e) {
            if (!RowFailures.isOfData(e)) {
                throw e;
            }
            computeApart(pairs, output);
        }
    }

    /** By halves, so that a pair that fails costs its neighbours a few more steps and not one each. */
    private void computeApart(Batch pairs, Output output) {
        int rows = pairs.rowCount();
        if (rows == 1) {
            computeOne(pairs, output);
            return;
        }
        for (int half = 0; half < 2; half++) {
            int from = half * (rows / 2);
            int to = half == 0 ? rows / 2 : rows;
            try (Batch part = Gather.rows(pairs, plan.matching().schema(), from, to, context.allocator())) {
                compute(part, output);
            }
        }
    }

    private void computeOne(Batch pair, Output output) {
        isOnePair = true;
        try {
            computing.process(0, pair.retain(), output);
        } finally {
            isOnePair = false;
        }
        failure.ifPresent(why -> blame(why, pair));
        failure = Optional.empty();
    }

    private void blame(MillraceException why, Batch pair) {
        Member member = members.find(Memory.getLong(pair.dataAddress(rowColumn + 1)));
        if (member == null) {
            return;
        }
        long row = Memory.getLong(pair.dataAddress(rowColumn)) - member.rowsBefore();
        long weight = pair.weights().isPresent() ? Memory.getLong(pair.weightsAddress()) : 1;
        try {
            member.failed(why.in("row " + row), weight, false);
        } catch (MillraceException tooMany) {
            member.fails(tooMany);
        }
        failed.add(member);
    }

    private void count(Batch rows) {
        long numbers = rows.dataAddress(0);
        for (int row = 0; row < rows.rowCount(); row++) {
            Member member = members.find(Memory.getLong(numbers + 8L * row));
            if (member != null) {
                member.gives(1);
            }
        }
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        if (pipelines.isPresent()) {
            pipelines.get().snapshot(writer);
        }
    }

    @Override
    public void restore(StateReader reader) {
        pipelines.ifPresent(each -> each.restore(reader));
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(List.of(matching, computing));
        pipelines.ifPresent(all::add);
        Closing.all(all);
    }

    private static final Output NOTHING = new Output() {
        @Override
        public void emit(Batch batch) {
            batch.close();
            throw new AssertionError("members give no rows");
        }

        @Override
        public boolean isFull() {
            return false;
        }
    };

    /** Takes pairs that match, and gives rows: as many as they are, as a filter does. */
    private final class Pairs implements Output {
        private final Output rows;

        Pairs(Output output) {
            this.rows = new Output() {
                @Override
                public void emit(Batch batch) {
                    if (pipelines.isPresent()) {
                        pipelines.get().take(batch, output);
                    } else {
                        count(batch);
                        output.emit(batch);
                    }
                }

                @Override
                public boolean isFull() {
                    return false;
                }
            };
        }

        @Override
        public void emit(Batch pairs) {
            try (pairs) {
                compute(pairs, rows);
            }
        }

        @Override
        public boolean isFull() {
            return false;
        }
    }

    /** What both operators are lent: a failure is to be told, or noted of the one pair at hand. */
    private final class PairContext implements OperatorContext {
        @Override
        public boolean keepsFailedRows() {
            return isOnePair;
        }

        @Override
        public void failedRow(MillraceException why, long weight) {
            failure = Optional.of(why);
        }

        @Override
        public BufferAllocator allocator() {
            return context.allocator();
        }

        @Override
        public Clock clock() {
            return context.clock();
        }

        @Override
        public KeyGroups keyGroups() {
            return context.keyGroups();
        }

        @Override
        public int batchRows() {
            return context.batchRows();
        }

        @Override
        public OperatorMetrics metrics() {
            return context.metrics();
        }

        @Override
        public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
            context.lateRows(batch, rows, count, watermarkMicros);
        }
    }
}
