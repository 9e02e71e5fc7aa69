package dev.millrace.engine.graph;

import dev.millrace.batch.Batch;
import dev.millrace.connector.EventTime;
import dev.millrace.engine.graph.PlanGraph.Node;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.text.TimeRange;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The time of which watermarks are made right behind a scan: by it its readers put the parts of a source in order. Infinite times, which move no watermark, are none. */
public final class ScanTime {
    private ScanTime() {}

    public static Optional<EventTime> of(PlanGraph graph, Node node, Scan scan) {
        for (Node behind : graph.nodes()) {
            if (behind.plan() instanceof Watermark watermark
                    && behind.inputs().contains(node)
                    && watermark.idleTimeoutMicros() != Watermark.FOLLOWS_CLOCK) {
                int column = scan.columns().get(watermark.timeColumn());
                return Optional.of(new EventTime(List.of(column), batch -> first(batch, 0), batch -> latest(batch, 0)));
            }
        }
        return Optional.empty();
    }

    private static OptionalLong first(Batch batch, int column) {
        for (int row = 0; row < batch.rowCount(); row++) {
            long time = Memory.getLong(batch.dataAddress(column) + 8L * row);
            boolean isThere = batch.validityAddress(column) == 0 || Memory.getBit(batch.validityAddress(column), row);
            if (isThere && TimeRange.isFinite(time)) {
                return OptionalLong.of(time);
            }
        }
        return OptionalLong.empty();
    }

    private static OptionalLong latest(Batch batch, int column) {
        long times = batch.dataAddress(column);
        long validity = batch.hasNulls(column) ? batch.validityAddress(column) : 0;
        long latest = Long.MIN_VALUE;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (validity == 0 || Memory.getBit(validity, row)) {
                long time = Memory.getLong(times + 8L * row);
                latest = TimeRange.isFinite(time) ? Math.max(latest, time) : latest;
            }
        }
        return latest == Long.MIN_VALUE ? OptionalLong.empty() : OptionalLong.of(latest);
    }
}
