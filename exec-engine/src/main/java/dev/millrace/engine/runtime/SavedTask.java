package dev.millrace.engine.runtime;

import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.GradualSections;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.checkpoint.StateChain;
import dev.millrace.engine.checkpoint.StateSteps;
import dev.millrace.engine.relation.SavedInput;
import dev.millrace.engine.relation.SavedPositions;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.runtime.QueryTasks.PlacedSource;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.OutletStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.StageMark;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a task keeps, in sections of a checkpoint. While the task runs no step, at an epoch's end.
 *
 * <p>Section {@code state NODE/INSTANCE QUERY}: the states of an operator as it writes them; none of one that keeps nothing. What does
 * not fit is in sections {@code state NODE/INSTANCE+NUMBER QUERY}, from number 1 on: a key group's entries may be in any of them. What has
 * changed since an earlier checkpoint is in sections behind those of that one, see {@link StateChain}. Section
 * {@code task NUMBER QUERY}: part {@code mark} for each stage but outlets: node and instance, 4 bytes each, watermark, 8 bytes, idle, 1
 * byte; of a paused task, part {@code waiting of columns} for each relation that it reads: node, and how many columns
 * all of it has, 4 bytes each, then as {@link SavedInput}; part {@code position} for each reader of a source: node and instance, then as {@link SavedPositions}, none if it knows none.
 */
final class SavedTask {
    private static final String MARK = "mark";
    private static final String POSITION = "position";
    private static final String WAITING = "waiting of columns";
    private static final String WAITING_OF_ALL_COLUMNS = "waiting"; // as it was written first: without their number

    /** What the tasks of a query wrote of their stages and readers; by node and instance. */
    record Places(
            Map<Integer, Map<Integer, StageMark>> marks, Map<Integer, Map<Integer, List<SourcePosition>>> readers) {
        Places() {
            this(new TreeMap<>(), new TreeMap<>());
        }
    }

    private SavedTask() {}

    /** The names of the sections of an operator's state, by their numbers from 0 on. */
    static IntFunction<String> stateSections(String query, int node, int instance) {
        return number -> StateSteps.section(query, node, instance, number);
    }

    private static String taskSection(String query, int number) {
        return "task " + number + " " + query;
    }

    /**
     * Writes all but what is left to be written gradually.
     *
     * @param gradual takes that over, also when this throws; if there is none, all is written
     */
    static void write(QueryTasks query, PipelineTask task, Barrier barrier, Optional<Consumer<GradualSections>> gradual)
            throws IOException {
        List<PlacedStage> stages = query.stages.stream()
                .filter(placed -> !(placed.stage() instanceof OutletStage)
                        && task.stages().contains(placed.stage()))
                .toList();
        for (PlacedStage placed : stages) {
            if (placed.stage() instanceof OperatorStage stage) {
                writeState(query, placed, stage.operator(), barrier, gradual);
            }
        }
        try (SectionOutput output = barrier.section(taskSection(query.name(), query.tasks.indexOf(task)))) {
            for (PlacedStage placed : stages) {
                StageMark mark = placed.stage().mark();
                DataOutput out = output.part(MARK);
                out.writeInt(placed.node().id());
                out.writeInt(placed.instance());
                out.writeLong(mark.watermark());
                out.writeBoolean(mark.idle());
            }
            for (FeedScan scan : query.feeds) {
                List<Item> waiting =
                        task.inputs().contains(scan.input()) ? scan.input().waitingAtCut() : List.of();
                query.waitsForShared = query.waitsForShared
                        || query.isShared(scan.scan()) && waiting.stream().anyMatch(Item.Rows.class::isInstance);
                if (!waiting.isEmpty()) {
                    DataOutput out = output.part(WAITING);
                    Schema columns = SavedInput.written(waiting, scan.feed().schema());
                    out.writeInt(node(query, scan));
                    out.writeInt(columns.size());
                    SavedInput.write(waiting, columns, query.memory().own(), out);
                }
            }
            for (PlacedSource source : query.sources) {
                if (task.inputs().contains(source.input()) && !(source.node().plan() instanceof PlanNode.Values)) {
                    Optional<SourcePosition> position = source.input().position();
                    DataOutput out = output.part(POSITION);
                    out.writeInt(source.node().id());
                    out.writeInt(source.partition());
                    SavedPositions.write(position.stream().toList(), out);
                }
            }
            output.finish();
        }
    }

    private static void writeState(
            QueryTasks query,
            PlacedStage placed,
            Operator operator,
            Barrier barrier,
            Optional<Consumer<GradualSections>> gradual)
            throws IOException {
        IntFunction<String> sections = stateSections(query.name(), placed.node().id(), placed.instance());
        StateChain chain = placed.chain();
        boolean isShort = chain.kept() != Freezing.Kept.NOTHING; // it may be, of what lies still for one
        Optional<FrozenState> frozen = (gradual.isPresent() || isShort) && operator instanceof Freezing freezing
                ? freezing.freeze(chain.kept())
                : Optional.empty();
        if (frozen.isPresent() && gradual.isPresent()) {
            gradual.get().accept(barrier.gradual(sections, placed.schemaHash(), frozen.get(), chain));
        } else if (frozen.isPresent()) {
            try (GradualSections all = barrier.gradual(sections, placed.schemaHash(), frozen.get(), chain)) {
                boolean done = false;
                while (!done) {
                    done = all.writeMore();
                }
                query.formats.addAll(all.formats());
            }
        } else {
            try (SectionOutput output = barrier.states(sections.apply(0), placed.schemaHash())) {
                operator.snapshot(output);
                List<String> written = output.bytes() == 0 ? List.of() : List.of(sections.apply(0));
                output.finish();
                query.formats.addAll(output.formats());
                chain.written(barrier.number(), written);
            }
        }
    }

    private static int node(QueryTasks query, FeedScan scan) {
        return query.stages.stream()
                .filter(placed -> placed.stage() == scan.input().entry())
                .findFirst()
                .orElseThrow()
                .node()
                .id();
    }

    /** What waited for a scan while its query was paused; the rows are the caller's. */
    static List<Item> waiting(
            SavedSections saved, String query, int tasks, int node, Schema schema, BufferAllocator memory, long most) {
        List<Item> waiting = new ArrayList<>();
        try {
            for (int number = 0; number < tasks; number++) {
                saved.read(taskSection(query, number), part -> {
                    boolean isOld = part.name().equals(WAITING_OF_ALL_COLUMNS);
                    if ((isOld || part.name().equals(WAITING)) && part.part().readInt() == node) {
                        Schema written = isOld
                                ? schema
                                : SavedInput.columns(schema, part.part().readInt());
                        waiting.addAll(SavedInput.read(part.part(), written, memory, most));
                    }
                });
            }
            return waiting;
        } catch (RuntimeException | Error e) {
            SavedInput.close(waiting);
            throw e;
        }
    }

    static Places read(SavedSections saved, String query, int tasks) {
        Places places = new Places();
        for (int number = 0; number < tasks; number++) {
            saved.read(taskSection(query, number), part -> {
                if (part.name().equals(MARK)) {
                    readMark(part.part(), places);
                } else if (part.name().equals(POSITION)) {
                    readPosition(part.part(), places);
                }
            });
        }
        return places;
    }

    private static void readMark(DataInput in, Places into) throws IOException {
        int node = in.readInt();
        int instance = in.readInt();
        into.marks
                .computeIfAbsent(node, any -> new TreeMap<>())
                .put(instance, new StageMark(in.readLong(), in.readBoolean()));
    }

    private static void readPosition(DataInput in, Places into) throws IOException {
        int node = in.readInt();
        int instance = in.readInt();
        into.readers.computeIfAbsent(node, any -> new TreeMap<>()).put(instance, SavedPositions.read(in));
    }
}
