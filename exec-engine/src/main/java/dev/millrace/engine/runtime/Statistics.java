package dev.millrace.engine.runtime;

import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.SinkStatus;
import dev.millrace.engine.graph.PlanGraph.Node;
import dev.millrace.engine.runtime.QueryTasks.PlacedSource;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.statistic.LatencyHistogram;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.engine.statistic.TurnStatistics;
import dev.millrace.engine.statistic.WatermarkStatistics;
import dev.millrace.engine.task.EntryStage;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.OutletStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.Stage;
import dev.millrace.engine.task.TaskInput;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.SweepingWatermarks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** Sums up what the stages of a query counted. */
final class Statistics {
    private Statistics() {}

    static long rowsRead(QueryTasks tasks) {
        long rows = 0;
        for (PlacedStage placed : tasks.stages) {
            if (placed.node().plan() instanceof Scan || placed.node().plan() instanceof Values) {
                rows += placed.stage() instanceof EntryStage entry ? entry.rowsIn() : 0;
            }
        }
        return rows;
    }

    static QueryStatistics of(QueryTasks tasks, QueryState state, QueryOutput output) {
        return of(
                tasks,
                state,
                output.rowsOut(),
                output.view(),
                output.publishedEpoch(),
                output.latencies(),
                output.subscribers(),
                output.sinks().statuses());
    }

    /** Of a query that gives its rows to one reader. */
    static QueryStatistics of(QueryTasks tasks, QueryState state, long rowsOut) {
        return of(
                tasks,
                state,
                rowsOut,
                Optional.empty(),
                0,
                LatencyHistogram.EMPTY,
                SubscriberStatistics.NONE,
                List.of());
    }

    private static QueryStatistics of(
            QueryTasks tasks,
            QueryState state,
            long rowsOut,
            Optional<VersionedView> view,
            long lastEpoch,
            LatencyHistogram latencies,
            SubscriberStatistics subscribers,
            List<SinkStatus> sinks) {
        List<OperatorStatistics> operators = operators(tasks);
        return new QueryStatistics(
                tasks.name(),
                state,
                rowsRead(tasks),
                rowsOut,
                tasks.late().count(),
                operators.stream().mapToLong(OperatorStatistics::cpuNanos).sum(),
                tasks.memory().bytes(),
                tasks.memory().spilledBytes(),
                view.map(VersionedView::rowCount).orElse(0L),
                lastEpoch,
                latencies,
                subscribers,
                operators,
                watermarks(tasks),
                splits(tasks),
                sinks);
    }

    private static List<SplitStatistics> splits(QueryTasks tasks) {
        List<SplitStatistics> all = new ArrayList<>();
        for (PlacedSource source : tasks.sources) {
            if (source.node().plan() instanceof Scan scan) {
                source.input()
                        .splits()
                        .forEach(split ->
                                all.add(new SplitStatistics(source.node().id(), scan.relation(), split)));
            }
        }
        return all;
    }

    private static List<OperatorStatistics> operators(QueryTasks tasks) {
        Map<Integer, List<PlacedStage>> byNode = new LinkedHashMap<>();
        for (PlacedStage placed : tasks.stages) {
            byNode.computeIfAbsent(placed.node().id(), id -> new ArrayList<>()).add(placed);
        }
        Map<EntryStage, Long> queued = new LinkedHashMap<>();
        for (PipelineTask task : tasks.tasks) {
            for (TaskInput input : task.inputs()) {
                queued.merge(input.entry(), input.queuedBytes(), Long::sum);
            }
        }
        Map<Integer, ScanCounts> counts = new LinkedHashMap<>();
        for (PlacedSource source : tasks.sources) {
            source.input()
                    .counts()
                    .ifPresent(found -> counts.merge(source.node().id(), found, ScanCounts::plus));
        }
        Map<Stage, ScheduledTask> scheduled = new HashMap<>();
        for (int i = 0; i < tasks.scheduled.size(); i++) {
            for (Stage stage : tasks.tasks.get(i).stages()) {
                scheduled.put(stage, tasks.scheduled.get(i));
            }
        }
        long now = tasks.resources().clock().nanoTime();
        return byNode.entrySet().stream()
                .map(node -> operator(
                        node.getValue(), queued, scheduled, now, Optional.ofNullable(counts.get(node.getKey()))))
                .toList();
    }

    private static OperatorStatistics operator(
            List<PlacedStage> stages,
            Map<EntryStage, Long> queued,
            Map<Stage, ScheduledTask> scheduled,
            long nowNanos,
            Optional<ScanCounts> counts) {
        Node node = stages.get(0).node();
        long rowsIn = 0;
        long rowsOut = 0;
        long batchesIn = 0;
        long cpuNanos = 0;
        long stateBytes = 0;
        long stateEntries = 0;
        long forgotten = 0;
        long queuedBytes = 0;
        long lateRows = 0;
        int instances = 0;
        for (PlacedStage placed : stages) {
            cpuNanos += placed.stage().cpuNanos();
            if (placed.stage() instanceof OutletStage && node.isCut()) {
                continue; // the other side of an exchange
            }
            instances = Math.max(instances, placed.instance() + 1);
            rowsIn += placed.stage().rowsIn();
            rowsOut += placed.stage().rowsOut();
            batchesIn += placed.stage().batchesIn();
            if (placed.stage() instanceof EntryStage entry) {
                queuedBytes += queued.getOrDefault(entry, 0L);
            }
            if (placed.stage() instanceof OperatorStage operator) {
                stateBytes += operator.metrics().stateBytes();
                stateEntries += operator.metrics().stateEntries();
                forgotten += operator.metrics().forgotten();
                lateRows += operator.lateRows();
            }
        }
        String detail = node.plan() instanceof Scan scan ? scan.relation() : "";
        detail += counts.map(found -> ": " + found.text()).orElse("");
        return new OperatorStatistics(
                node.id(),
                node.plan().getClass().getSimpleName(),
                detail,
                node.pipeline(),
                instances,
                rowsIn,
                rowsOut,
                batchesIn,
                cpuNanos,
                stateBytes,
                stateEntries,
                forgotten,
                queuedBytes,
                lateRows,
                turns(stages, scheduled, nowNanos));
    }

    private static TurnStatistics turns(List<PlacedStage> stages, Map<Stage, ScheduledTask> scheduled, long nowNanos) {
        Set<ScheduledTask> tasks = new LinkedHashSet<>();
        for (PlacedStage placed : stages) {
            ScheduledTask task = scheduled.get(placed.stage());
            if (task != null
                    && !(placed.stage() instanceof OutletStage && placed.node().isCut())) {
                tasks.add(task); // of an exchange the side that reads
            }
        }
        if (tasks.isEmpty()) {
            return TurnStatistics.NONE;
        }
        OptionalDouble slack = OptionalDouble.empty();
        long queuedRows = 0;
        long waitNanos = 0;
        long queueNanos = 0;
        double utilisation = 0;
        for (ScheduledTask task : tasks) {
            queuedRows += task.queuedRows();
            waitNanos += task.waitNanos();
            queueNanos += task.queueNanos();
            utilisation += task.utilisation(nowNanos) / tasks.size();
            OptionalDouble own = task.slackNanos(nowNanos);
            if (own.isPresent() && own.getAsDouble() < slack.orElse(Double.MAX_VALUE)) {
                slack = own;
            }
        }
        return new TurnStatistics(queuedRows, utilisation, waitNanos, queueNanos, slack);
    }

    private static List<WatermarkStatistics> watermarks(QueryTasks tasks) {
        List<PlacedStage> assigners = tasks.stages.stream()
                .filter(placed -> placed.stage() instanceof OperatorStage stage && stage.assignsWatermarks())
                .toList();
        long least = Long.MAX_VALUE;
        for (PlacedStage placed : assigners) {
            OperatorStage stage = (OperatorStage) placed.stage();
            least = stage.isAssignerIdle() ? least : Math.min(least, stage.assignedMicros());
        }
        List<WatermarkStatistics> watermarks = new ArrayList<>();
        for (PlacedStage placed : assigners) {
            OperatorStage stage = (OperatorStage) placed.stage();
            watermarks.add(new WatermarkStatistics(
                    relationBelow(placed.node()),
                    placed.instance(),
                    stage.assignedMicros(),
                    stage.assignedSinceEpochMicros(),
                    stage.isAssignerIdle(),
                    !stage.isAssignerIdle() && stage.assignedMicros() == least && least != Operator.END_OF_INPUT,
                    stage.windows().map(SweepingWatermarks::estimates).orElse(0L),
                    stage.windows().map(SweepingWatermarks::hits).orElse(0L)));
        }
        return watermarks;
    }

    private static String relationBelow(Node node) {
        if (node.plan() instanceof Scan scan) {
            return scan.relation();
        }
        return node.inputs().isEmpty() ? "" : relationBelow(node.inputs().get(0));
    }
}
