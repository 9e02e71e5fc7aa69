package dev.millrace.planner.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** {@code t1000} has a thousand rows and a key, {@code s500} is a stream that has given 500, {@code f} is a file. */
class CardinalityTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("k", DataType.BIGINT, false));

    private final Cardinality cardinality =
            new Cardinality(CardinalityTest::statistics, name -> name.startsWith("t") ? List.of(0) : List.of());

    private static RelationStatistics statistics(String relation) {
        long count = relation.length() > 1 ? Long.parseLong(relation.substring(1)) : 0;
        return new RelationStatistics() {
            @Override
            public OptionalLong rows() {
                return relation.startsWith("t") ? OptionalLong.of(count) : OptionalLong.empty();
            }

            @Override
            public OptionalLong rowsSoFar() {
                return relation.startsWith("s") ? OptionalLong.of(count) : OptionalLong.empty();
            }

            @Override
            public Optional<ColumnStatistics> column(int column) {
                return Optional.empty();
            }
        };
    }

    private static PlanNode scan(String relation) {
        return new PlanNode.Scan(relation, List.of(0, 1), List.of(), SCHEMA);
    }

    private static PlanNode join(PlanNode left, PlanNode right, JoinKind kind, Integer leftKey, Integer rightKey) {
        List<Integer> leftKeys = leftKey == null ? List.of() : List.of(leftKey);
        List<Integer> rightKeys = rightKey == null ? List.of() : List.of(rightKey);
        return Nodes.join(left, right, kind, leftKeys, rightKeys, Optional.empty(), Optional.empty());
    }

    private static PlanNode cross(PlanNode left, PlanNode right) {
        return join(left, right, JoinKind.INNER, null, null);
    }

    @Test
    void countedRowsAreTakenAsTheyAre() {
        assertEquals(1000, cardinality.rows(scan("t1000")));
        assertEquals(1, cardinality.rows(scan("t0")), "an empty table may be filled");
    }

    @Test
    void aStreamIsLargerThanWhatItHasGivenSoFar() {
        assertTrue(cardinality.rows(scan("s500")) > cardinality.rows(scan("f")));
        assertEquals(5e9, cardinality.rows(scan("s5000000000")));
        assertTrue(cardinality.isKnown("s500") && !cardinality.isCounted("s500"));
        assertFalse(cardinality.isKnown("f"));
    }

    @Test
    void aColumnThatRefersToAKeyFindsOneRow() {
        PlanNode joined = join(scan("s500"), scan("t1000"), JoinKind.INNER, 1, 0);
        assertEquals(cardinality.rows(scan("s500")), cardinality.rows(joined));
    }

    @Test
    void whatIsLeftOfAKeyIsFoundByItsPart() {
        PlanNode few = Nodes.filter(scan("t1000"), Expressions.test("eq", column(0), new Literal(7L, DataType.BIGINT)));
        assertEquals(1, cardinality.rows(few), 0.01);
        PlanNode joined = join(scan("t50000"), few, JoinKind.INNER, 1, 0);
        assertEquals(50, cardinality.rows(joined), 1);
    }

    private static Expression.Column column(int index) {
        return new Expression.Column(index, DataType.BIGINT, false);
    }

    @Test
    void guessesAboutGuessesStayNumbers() {
        PlanNode plan = scan("t9000000000000000000");
        double before = cardinality.rows(plan);
        for (int i = 0; i < 60; i++) {
            plan = i % 5 == 4
                    ? join(plan, scan("t9000000000000000000"), JoinKind.FULL, 1, 1)
                    : cross(plan, scan("t9000000000000000000"));
            double rows = cardinality.rows(plan);
            assertTrue(Double.isFinite(rows) && rows >= before, i + ": " + rows + " after " + before);
            assertTrue(Double.isFinite(cardinality.distinct(plan, 0)));
            before = rows;
        }
    }

    @Test
    void outerJoinsKeepTheirSideAndReducersAddNothing() {
        double left = cardinality.rows(scan("t1000"));
        assertTrue(cardinality.rows(join(scan("t1000"), scan("t3"), JoinKind.LEFT, 1, 0)) >= left);
        for (JoinKind kind : List.of(JoinKind.SEMI, JoinKind.ANTI)) {
            double rows = cardinality.rows(join(scan("t1000"), scan("t3"), kind, 1, 0));
            assertTrue(rows >= 1 && rows <= left, kind + ": " + rows);
        }
    }

    @Test
    void aStandingQueryKeepsWhatItsJoinsRead() {
        Inference inference = new Inference(
                name -> new RelationFacts(!name.startsWith("t"), false, Optional.empty(), List.of()), false);
        PlanNode plan = join(scan("t1000"), scan("t20"), JoinKind.INNER, 1, 0);
        StandingWork work = StandingWork.of(plan, cardinality, inference);
        assertEquals(1020, work.keptRows());
        assertEquals(1020, work.passedRows());
        assertFalse(work.endless());
        PlanNode ofStream = join(scan("s500"), scan("t20"), JoinKind.INNER, 1, 0);
        assertTrue(StandingWork.of(ofStream, cardinality, inference).endless());
        assertTrue(StandingWork.of(Nodes.select(scan("s500"), List.of(0)), cardinality, inference)
                        .keptRows()
                == 0);
    }
}
