package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.graph.PlanGraph;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.type.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PlanGraphTest {
    private static final Schema KV = longs("k", "v");

    /** One line per pipeline: whether it is parallel, and its nodes. */
    private static String pipelines(PlanNode plan, int workers) {
        return pipelines(plan, workers, false);
    }

    private static String pipelines(PlanNode plan, int workers, boolean severalEnds) {
        PlanGraph graph = new PlanGraph(plan, workers, scan -> scan.relation().equals("file"), severalEnds);
        StringBuilder text = new StringBuilder();
        for (int pipeline : graph.pipelines()) {
            text.append(graph.isParallel(pipeline) ? "parallel:" : "one:");
            for (PlanGraph.Node node : graph.nodesOf(pipeline)) {
                if (!(node.plan() instanceof Exchange) || node.isCut()) {
                    text.append(' ')
                            .append(
                                    node.plan() instanceof Scan scan
                                            ? scan.relation()
                                            : node.plan().getClass().getSimpleName());
                }
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Test
    void withOneWorkerAQueryIsOneTask() {
        assertEquals("one: file Aggregate\n", pipelines(sum(byHash(scan("file", KV), 0), List.of(0), 1), 1));
    }

    @Test
    void aReplayableScanIsReadInParallelAndGatheredForTheOutput() {
        assertEquals("parallel: file Calc\none: Exchange\n", pipelines(project(scan("file", KV), 0), 2));
    }

    @Test
    void whereTheOutputTakesRowsFromSeveralTasksNothingIsGathered() {
        assertEquals("parallel: file Calc\n", pipelines(project(scan("file", KV), 0), 2, true));
        assertEquals("one: stream Calc\n", pipelines(project(scan("stream", KV), 0), 2, true));
        assertEquals("one: file Aggregate\n", pipelines(sum(scan("file", KV), List.of(0), 1), 2, true));
        assertEquals("one: file Calc\n", pipelines(project(scan("file", KV), 0), 1, true));
        assertEquals(
                "one: stream\nparallel: Exchange Aggregate\n",
                pipelines(sum(byHash(scan("stream", KV), 0), List.of(0), 1), 2, true));
        assertEquals(
                "parallel: file\none: Exchange Aggregate\n",
                pipelines(sum(single(scan("file", KV)), List.of(), 1), 2, true));
    }

    @Test
    void anAggregateWithoutAnExchangeHasOneInstance() {
        assertEquals("one: file Aggregate\n", pipelines(sum(scan("file", KV), List.of(0), 1), 2));
    }

    @Test
    void aHashExchangeMakesWhatFollowsParallel() {
        assertEquals(
                "one: stream\nparallel: Exchange Aggregate\none: Exchange\n",
                pipelines(sum(byHash(scan("stream", KV), 0), List.of(0), 1), 2));
    }

    @Test
    void anExchangeFromOneToOneIsNoCut() {
        assertEquals("one: stream Aggregate\n", pipelines(sum(single(scan("stream", KV)), List.of(), 1), 2));
    }

    @Test
    void equalSubplansAreOneNode() {
        PlanNode shared = sum(byHash(scan("stream", KV), 0), List.of(0), 1);
        assertEquals(
                "one: stream\nparallel: Exchange Aggregate Join\none: Exchange\n",
                pipelines(join(shared, shared, 0, 0), 2));
    }

    @Test
    void aPlanWhoseTaskWouldWaitForItselfIsOneTask() {
        PlanNode file = scan("file", KV);
        PlanNode totals = sum(byHash(file, 0), List.of(0), 1);
        assertEquals("one: file Aggregate Join\n", pipelines(join(file, totals, 0, 0), 2));
        assertEquals("one: file Aggregate Calc Union\n", pipelines(union(file, project(totals, 0, 1)), 2));
    }
}
