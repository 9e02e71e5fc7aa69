package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.arrow.vector.FieldVector;

/**
 * Members' rows on their way through the operators that each member has for itself. Those are there as long as they keep something: a member that nothing concerns has none.
 *
 * <pre>
 *   rows of all members - wait until the epoch ends, or there are many - dealt out - MemberOperators of each - member, its columns
 *                                                    at the end: told the time, and that it ends
 * </pre>
 *
 * Rows that are late were left out before they came here, each by the rows before it: so it may wait for the epoch's end what time it is. The operator's, as {@link
 * Member} says.
 */
final class MemberPipelines implements AutoCloseable {
    private static final int MOST_ROWS = 1 << 15; // that wait

    private final GroupMembers members;
    private final List<MemberStep> steps;
    private final boolean isTimed; // whether time alone has them give something
    private final boolean beginsWithRow; // whether there is an answer without a row
    private final Schema filtered;
    private final Schema answer;
    private final Consumer<Member> failed;
    private final MemberRoom room;
    private final Deque<Batch> waiting = new ArrayDeque<>();
    private int waitingRows;
    private final Set<Member> open = new LinkedHashSet<>();
    private final Set<Member> touched = new LinkedHashSet<>(); // in the epoch under way
    private final List<Member> ofBatch = new ArrayList<>();
    private final Map<String, List<StateParts>> saved = new HashMap<>(); // that nobody has claimed

    @SuppressWarnings("NullAway.Init") // by open, before anything comes
    private OperatorContext context;

    @SuppressWarnings("NullAway.Init") // by who brings something
    private Output output;

    private long watermark = Operator.NO_WATERMARK;
    private long told = Operator.NO_WATERMARK;

    /** @param failed is told of a member of which a row failed, or that cannot go on, in the epoch under way */
    MemberPipelines(
            GroupPlan plan,
            GroupMembers members,
            Function<PlanNode, Operator> operators,
            HeapBudget heap,
            Consumer<Member> failed) {
        this.members = members;
        this.steps = MemberStep.of(plan, operators);
        this.isTimed = plan.above().stream().anyMatch(PlanNode.WindowAggregate.class::isInstance);
        this.beginsWithRow = plan.above().stream()
                .anyMatch(node -> node instanceof PlanNode.Aggregate groups
                        && groups.keys().isEmpty());
        this.filtered = plan.above().get(0).input().schema();
        this.answer = plan.running().schema();
        this.failed = failed;
        this.room = new MemberRoom(
                heap, HeapBudget.estimate(plan.above().get(plan.above().size() - 1), 1));
    }

    void open(OperatorContext newContext) {
        context = newContext;
    }

    // ---- members

    /** The rows that come now are its first, but for those of which it has the state. */
    void join(Member member) {
        Optional<List<StateParts>> state = member.goesOnWith().flatMap(name -> Optional.ofNullable(saved.remove(name)));
        if (member.goesOnWith().isEmpty()) {
            saved.clear(); // all that go on have come
        }
        boolean goesOn = state.filter(this::isReadable).isPresent();
        if (goesOn || beginsWithRow) {
            begin(member).ifPresent(operators -> {
                if (goesOn) {
                    operators.restore(state.orElseThrow());
                }
                touched.add(member);
            });
        }
    }

    private boolean isReadable(List<StateParts> state) {
        return state.size() == steps.size()
                && state.stream()
                        .flatMap(parts -> parts.formats().stream())
                        .allMatch(format -> StateFormats.whyUnreadable(format).isEmpty());
    }

    /** @return empty if there is no room for them, of which the member fails */
    private Optional<MemberOperators> begin(Member member) {
        try {
            room.take(member.name());
        } catch (MillraceException e) {
            fail(member, e);
            return Optional.empty();
        }
        MemberOperators operators = new MemberOperators(member, steps, context, rows -> answer(member, rows));
        member.operators(Optional.of(operators));
        open.add(member);
        return member.operators();
    }

    private Optional<MemberOperators> beginNow(Member member) {
        Optional<MemberOperators> operators = begin(member);
        operators.ifPresent(begun -> begun.advance(told));
        return operators;
    }

    private void fail(Member member, MillraceException why) {
        leave(member);
        member.fails(why);
        failed.accept(member);
    }

    /** Frees what a member has. */
    void leave(Member member) {
        touched.remove(member);
        if (open.remove(member)) {
            room.give();
            member.operators().ifPresent(MemberOperators::close);
            member.operators(Optional.empty());
        }
    }

    /** What a member's operators keep, the lowest first; empty if it has none. Between epochs. */
    Optional<List<StateParts>> states(Member member) {
        return member.operators().map(MemberOperators::states);
    }

    // ---- rows and time

    /** Rows that are left by the filters, with the numbers of members; takes the batch over. */
    void take(Batch rows, Output to) {
        waiting.add(rows);
        waitingRows += rows.rowCount();
        if (waitingRows >= MOST_ROWS) {
            deal(to);
        }
    }

    private void deal(Output to) {
        output = to;
        waitingRows = 0;
        while (!waiting.isEmpty()) {
            try (Batch batch = waiting.remove()) {
                deal(batch);
            }
        }
    }

    private void deal(Batch batch) {
        long numbers = batch.dataAddress(0);
        for (int row = 0; row < batch.rowCount(); row++) {
            Member member = members.find(Memory.getLong(numbers + 8L * row));
            if (member != null && member.failure().isEmpty()) {
                Optional<MemberOperators> operators = member.operators();
                if (operators.isEmpty()) {
                    operators = beginNow(member);
                }
                if (operators.isPresent() && operators.get().picked().add(row)) {
                    ofBatch.add(member);
                }
            }
        }
        for (Member member : ofBatch) {
            MemberOperators operators = member.operators().orElseThrow();
            Batch own = operators.picked().copy(batch, filtered, context.allocator());
            touched.add(member);
            trying(member, () -> operators.process(own));
        }
        ofBatch.clear();
    }

    /** No row older than this is expected any more. */
    void watermark(long micros) {
        watermark = Math.max(watermark, micros);
    }

    void endEpoch(long epoch, Output to) {
        deal(to);
        boolean isLater = isTimed && watermark > told;
        told = watermark;
        for (Member member : isLater ? List.copyOf(open) : List.copyOf(touched)) {
            member.operators()
                    .ifPresent(operators -> trying(member, () -> {
                        operators.advance(told);
                        operators.endEpoch(epoch);
                    }));
            member.operators().filter(MemberOperators::isEmpty).ifPresent(empty -> leave(member));
        }
        touched.clear();
    }

    /** What cannot be computed of a member's rows is the end of that member alone. */
    private void trying(Member member, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            MillraceException why = RowFailures.ofData(e).orElseThrow(() -> e);
            fail(member, why);
            return;
        }
        if (member.hasFailingRows()) {
            failed.accept(member);
        }
    }

    private void answer(Member member, Batch rows) {
        int count = rows.rowCount();
        FieldVector numbers = Vectors.allocate(GroupPlan.MEMBER, count, 0, context.allocator());
        for (int row = 0; row < count; row++) {
            Memory.putLong(numbers.getDataBufferAddress() + 8L * row, member.number());
        }
        Vectors.setAllValid(numbers, count);
        Vectors.finish(numbers, count);
        FieldVector[] columns = new FieldVector[answer.size()];
        columns[0] = numbers;
        for (int column = 1; column < columns.length; column++) {
            columns[column] = rows.column(column - 1);
        }
        member.gives(count);
        output.emit(Batch.view(answer, columns, count, rows.weights(), List.of(rows, numbers)));
    }

    // ---- snapshots

    /**
     * The number of members that keep something, 4 bytes; of each its name, as {@link DataOutput#writeUTF} has it, the number of its operators, 4 bytes, and what each keeps,
     * see {@link StateParts}.
     */
    void snapshot(StateWriter writer) throws IOException {
        DataOutput out = writer.keyGroup(StateFormats.MEMBERS, -1);
        out.writeInt(open.size());
        for (Member member : open) {
            List<StateParts> states = states(member).orElseThrow();
            out.writeUTF(member.name());
            out.writeInt(states.size());
            for (StateParts state : states) {
                state.write(out);
            }
        }
    }

    void restore(StateReader reader) {
        reader.keyGroups(StateFormats.MEMBERS, (in, group) -> {
            for (int left = SectionInput.readLength(in); left > 0; left--) {
                String name = in.readUTF();
                saved.put(name, states(in));
            }
        });
    }

    private static List<StateParts> states(DataInput in) throws IOException {
        List<StateParts> states = new ArrayList<>();
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            states.add(StateParts.read(in));
        }
        return states;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(waiting);
        waiting.clear();
        for (Member member : open) {
            member.operators().ifPresent(all::add);
            member.operators(Optional.empty());
        }
        open.clear();
        all.add(room);
        Closing.all(all);
    }
}
