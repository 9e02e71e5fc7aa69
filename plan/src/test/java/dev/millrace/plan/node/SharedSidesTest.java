package dev.millrace.plan.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SharedSidesTest {
    private static final Scan T = scan("t", DataType.BIGINT);
    private static final Scan U = scan("u", DataType.BIGINT);

    private static Scan scan(String relation, DataType type) {
        Schema schema = Schema.of(new Field("a", type, true), new Field("b", type, true));
        return new Scan(relation, List.of(0, 1), List.of(), schema);
    }

    private static Join join(Scan left, Scan right, JoinKind kind, List<Integer> leftKeys, List<Integer> rightKeys) {
        return join(left, right, kind, leftKeys, rightKeys, Optional.empty());
    }

    private static Join join(
            Scan left,
            Scan right,
            JoinKind kind,
            List<Integer> leftKeys,
            List<Integer> rightKeys,
            Optional<Expression> condition) {
        List<Field> fields = new ArrayList<>(left.schema().fields());
        if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
            fields.addAll(right.schema().fields());
        }
        return new Join(left, right, kind, leftKeys, rightKeys, condition, Optional.empty(), new Schema(fields));
    }

    /** Which sides of a join are read where they are kept, if it is all of the plan; {@code s} is a stream. */
    private static List<Boolean> shared(Join join) {
        SharedSides sides = SharedSides.of(join, relation -> !relation.equals("s"));
        return List.of(sides.isShared(join, 0), sides.isShared(join, 1));
    }

    private static Expression compared(String function) {
        return new Call(
                function,
                List.of(new Column(1, DataType.BIGINT, true), new Column(3, DataType.BIGINT, true)),
                DataType.BOOLEAN,
                true);
    }

    @Test
    void tablesAreReadWhereTheyAreKeptAndStreamsAreNot() {
        assertEquals(List.of(true, true), shared(join(T, U, JoinKind.INNER, List.of(0), List.of(1))));
        assertEquals(List.of(true, true), shared(join(T, U, JoinKind.INNER, List.of(1, 0), List.of(0, 1))));
        Scan stream = scan("s", DataType.BIGINT);
        assertEquals(List.of(false, true), shared(join(stream, T, JoinKind.INNER, List.of(0), List.of(0))));
        assertEquals(List.of(true, false), shared(join(T, stream, JoinKind.INNER, List.of(0), List.of(0))));
    }

    /** The row that is looked up by would have one place for both, so that only one would be compared. */
    @Test
    void joinsByOneColumnTwiceKeepTheirRows() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT)) {
            assertEquals(List.of(false, false), shared(join(T, U, kind, List.of(0, 0), List.of(0, 1))));
            assertEquals(List.of(false, false), shared(join(T, U, kind, List.of(0, 1), List.of(1, 1))));
        }
    }

    @Test
    void sidesWithNotesAreKept() {
        assertEquals(List.of(false, true), shared(join(T, U, JoinKind.LEFT, List.of(0), List.of(0))));
        assertEquals(List.of(true, false), shared(join(T, U, JoinKind.RIGHT, List.of(0), List.of(0))));
        assertEquals(List.of(false, false), shared(join(T, U, JoinKind.FULL, List.of(0), List.of(0))));
        assertEquals(List.of(false, false), shared(join(T, U, JoinKind.SEMI, List.of(0), List.of(0))));
        Optional<Expression> differ = Optional.of(compared("ne"));
        assertEquals(List.of(false, true), shared(join(T, U, JoinKind.SEMI, List.of(0), List.of(0), differ)));
        assertEquals(List.of(false, true), shared(join(T, U, JoinKind.ANTI, List.of(0), List.of(0), differ)));
    }

    @Test
    void joinsThatCompareSizesHaveAnIndexOfTheirOwn() {
        for (String size : List.of("lt", "le", "gt", "ge")) {
            Expression both = new Call("and", List.of(compared("ne"), compared(size)), DataType.BOOLEAN, true);
            for (Expression condition : List.of(compared(size), both)) {
                Join join = join(T, U, JoinKind.INNER, List.of(0), List.of(0), Optional.of(condition));
                assertEquals(List.of(false, false), shared(join));
            }
        }
    }

    @Test
    void keysWhoseBytesDifferThoughTheyAreEqualAreNotSharedBy() {
        for (DataType type : List.of(DataType.DOUBLE, DataType.REAL, DataType.INTERVAL)) {
            Join join = join(scan("t", type), scan("u", type), JoinKind.INNER, List.of(0), List.of(0));
            assertEquals(List.of(false, false), shared(join));
        }
        Join scales = join(
                scan("t", DataType.numeric(9, 2)),
                scan("u", DataType.numeric(9, 3)),
                JoinKind.INNER,
                List.of(0),
                List.of(0));
        assertEquals(List.of(false, false), shared(scales));
    }

    @Test
    void withoutKeysNothingIsShared() {
        assertEquals(List.of(false, false), shared(join(T, U, JoinKind.INNER, List.of(), List.of())));
    }
}
