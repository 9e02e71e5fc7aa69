package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.estimate.ColumnStatistics;
import dev.millrace.planner.estimate.RelationStatistics;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/** Graphs of relations of three columns, each with so many rows and so many values in each column. */
final class Graphs {
    static final int WIDTH = 3;

    private final List<Long> rows = new ArrayList<>();
    private final List<Double> values = new ArrayList<>();
    final JoinGraph graph = new JoinGraph();

    private static final Schema SCHEMA = Schema.of(
            new Field("a", DataType.BIGINT, false),
            new Field("b", DataType.BIGINT, false),
            new Field("c", DataType.BIGINT, false));

    private PlanNode scan(long rowCount, double distinct) {
        rows.add(rowCount);
        values.add(distinct);
        return new PlanNode.Scan("r" + (rows.size() - 1), List.of(0, 1, 2), List.of(), SCHEMA);
    }

    Graphs factor(long rowCount, double distinct) {
        graph.addFactor(scan(rowCount, distinct));
        return this;
    }

    /** A SEMI join of {@code member}'s column with a relation's first. */
    Graphs reducer(long rowCount, double distinct, int member, int column) {
        int first = graph.width();
        graph.addReducer(
                scan(rowCount, distinct), PlanNode.JoinKind.SEMI, Optional.of(equal(member * WIDTH + column, first)));
        return this;
    }

    private Expression equal(int one, int other) {
        return Expressions.test("eq", column(one), column(other));
    }

    private static Expression.Column column(int number) {
        return new Expression.Column(number, DataType.BIGINT, false);
    }

    /** The condition that columns of two members are equal. */
    Graphs equal(int left, int leftColumn, int right, int rightColumn) {
        graph.addCondition(equal(left * WIDTH + leftColumn, right * WIDTH + rightColumn));
        return this;
    }

    /** The condition that one member's column is less than another's. */
    Graphs less(int left, int right) {
        graph.addCondition(Expressions.test("lt", column(left * WIDTH), column(right * WIDTH)));
        return this;
    }

    Graphs done() {
        graph.sortConditions();
        return this;
    }

    private RelationStatistics statistics(String relation) {
        int number = Integer.parseInt(relation.substring(1));
        return new RelationStatistics() {
            @Override
            public OptionalLong rows() {
                return OptionalLong.of(rows.get(number));
            }

            @Override
            public OptionalLong rowsSoFar() {
                return OptionalLong.empty();
            }

            @Override
            public Optional<ColumnStatistics> column(int column) {
                return Optional.of(new ColumnStatistics() {
                    @Override
                    public double distinct() {
                        return values.get(number);
                    }

                    @Override
                    public double nullFraction() {
                        return 0;
                    }

                    @Override
                    public OptionalDouble equalTo(Object value) {
                        return OptionalDouble.empty();
                    }

                    @Override
                    public OptionalDouble below(Object value) {
                        return OptionalDouble.empty();
                    }
                });
            }
        };
    }

    JoinSizes sizes() {
        return new JoinSizes(
                graph,
                new Cardinality(this::statistics, name -> List.of()),
                new UniqueKey(name -> new RelationFacts(false, false, Optional.empty(), List.of())));
    }

    List<JoinTree> leaves() {
        return IntStream.range(0, graph.members().size())
                .<JoinTree>mapToObj(JoinTree.Leaf::new)
                .toList();
    }

    JoinEnumeration enumeration() {
        return new JoinEnumeration(graph, sizes(), leaves(), false);
    }
}
