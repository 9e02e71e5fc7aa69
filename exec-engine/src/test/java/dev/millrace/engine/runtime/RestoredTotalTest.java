package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An aggregate without keys has one row whatever there is, also when it goes on in another engine with other workers. */
@Timeout(120)
final class RestoredTotalTest {
    private static final Schema KV = longs("k", "v");
    private static final PlanNode TOTAL = new PlanNode.Aggregate(
            single(scan("s", KV)),
            List.of(),
            List.of(AggregateTests.call(Function.COUNT, DataType.BIGINT)),
            PlanNode.Phase.SINGLE,
            true,
            longs("n"));

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "3, 1", "2, 4", "4, 2"})
    void itGoesOnWithItsTotal(int before, int after) {
        QuerySnapshot snapshot;
        try (Engine engine = engine(before)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            StandingQuery query = engine.start("total", TOTAL, QueryOptions.view());
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7), Row.of(2, 8), Row.of(3, 9))));
            assertEquals(zset(Row.of(3L)), view(engine, "total"));
            snapshot = query.snapshot();
        }
        try (Engine engine = engine(after)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            engine.start("total", TOTAL, QueryOptions.view().withRestore(snapshot));
            assertEquals(zset(Row.of(3L)), view(engine, "total"), "before anything comes");
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(4, 1))));
            assertEquals(zset(Row.of(4L)), view(engine, "total"));
        }
    }

    /** Over nothing there is a row as well, and one only. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "3, 1"})
    void itGoesOnFromNothing(int before, int after) {
        QuerySnapshot snapshot;
        ZSet ofNothing;
        try (Engine engine = engine(before)) {
            engine.relations().addStream("s", KV);
            StandingQuery query = engine.start("total", TOTAL, QueryOptions.view());
            ofNothing = view(engine, "total");
            assertEquals(1, ofNothing.rows().size());
            snapshot = query.snapshot();
        }
        try (Engine engine = engine(after)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            engine.start("total", TOTAL, QueryOptions.view().withRestore(snapshot));
            assertEquals(ofNothing, view(engine, "total"));
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(4, 5))));
            assertEquals(zset(Row.of(1L)), view(engine, "total"));
        }
    }

    private static Engine engine(int workers) {
        return Engine.open(EngineOptions.defaults().withWorkers(workers), Clock.system());
    }
}
