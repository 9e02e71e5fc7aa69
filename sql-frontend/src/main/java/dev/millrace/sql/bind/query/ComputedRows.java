package dev.millrace.sql.bind.query;

import com.google.common.collect.ImmutableList;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.DrawNumbers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;

/**
 * The relation of VALUES whose rows are computed. Of many rows, neighbours that differ in constants only are one computation over
 * these constants: a plan of as many computations as rows takes seconds, and each would have its code.
 *
 * <pre>
 * VALUES (1, 'a' || random()), (2, 'b' || random())    becomes    Project($0, $1 || random())
 *                                                                   Values((1, 'a'), (2, 'b'))
 * </pre>
 *
 * Constants are taken out of what computes with values alone. Other functions may need to know theirs while planning.
 */
final class ComputedRows {
    private static final int FEW = 16; // so many have plans of their own, as prepared statements know them
    private static final Set<SqlKind> OF_VALUES = Set.of(
            SqlKind.PLUS,
            SqlKind.MINUS,
            SqlKind.TIMES,
            SqlKind.DIVIDE,
            SqlKind.MOD,
            SqlKind.MINUS_PREFIX,
            SqlKind.EQUALS,
            SqlKind.NOT_EQUALS,
            SqlKind.LESS_THAN,
            SqlKind.LESS_THAN_OR_EQUAL,
            SqlKind.GREATER_THAN,
            SqlKind.GREATER_THAN_OR_EQUAL,
            SqlKind.AND,
            SqlKind.OR,
            SqlKind.NOT,
            SqlKind.CASE,
            SqlKind.COALESCE,
            SqlKind.IS_NULL,
            SqlKind.IS_NOT_NULL);
    private static final String CONCATENATION = "text_concat";

    private final RelOptCluster cluster;
    private final List<String> names;
    private final List<RelNode> relations = new ArrayList<>();
    private final List<Shape> neighbours = new ArrayList<>(); // of one kind

    private ComputedRows(RelOptCluster cluster, List<String> names) {
        this.cluster = cluster;
        this.names = names;
    }

    /** @param rows at least one, each with as many expressions as there are names */
    static RelNode of(RelOptCluster cluster, List<List<RexNode>> rows, List<String> names) {
        ComputedRows all = new ComputedRows(cluster, names);
        for (List<RexNode> row : rows) {
            Interrupt.checkCurrent();
            if (rows.size() <= FEW) {
                all.addAlone(row);
            } else {
                all.add(new Shape(row));
            }
        }
        all.close();
        return all.relations.size() == 1 ? all.relations.get(0) : LogicalUnion.create(all.relations, true);
    }

    private void addAlone(List<RexNode> row) {
        relations.add(RelNodes.project(LogicalValues.createOneRow(cluster), row, names));
    }

    private void add(Shape shape) {
        if (!neighbours.isEmpty() && !neighbours.get(0).kind.equals(shape.kind)) {
            close();
        }
        neighbours.add(shape);
    }

    private void close() {
        if (neighbours.size() == 1) {
            addAlone(neighbours.get(0).row);
        } else if (!neighbours.isEmpty()) {
            Shape first = neighbours.get(0);
            ImmutableList.Builder<ImmutableList<RexLiteral>> tuples = ImmutableList.builder();
            neighbours.forEach(shape -> tuples.add(ImmutableList.copyOf(shape.constants)));
            List<String> columns = new ArrayList<>();
            for (int column = 0; column < first.types.size(); column++) {
                columns.add("constant" + column);
            }
            RelDataType type = TypeMapper.factory().createStructType(first.types, columns);
            relations.add(RelNodes.project(LogicalValues.create(cluster, type, tuples.build()), first.computed, names));
        }
        neighbours.clear();
    }

    /** A row, and what is left of it without its constants. */
    private static final class Shape {
        private final List<RexNode> row;
        private final List<RexNode> computed = new ArrayList<>();
        private final List<RexLiteral> constants = new ArrayList<>();
        private final List<RelDataType> types = new ArrayList<>();
        private final String kind;

        Shape(List<RexNode> row) {
            this.row = row;
            for (RexNode expression : row) {
                computed.add(without(expression));
            }
            if (constants.isEmpty()) { // there are no rows without columns
                take((RexLiteral) Rex.bigint(0));
            }
            kind = DrawNumbers.renumbered(computed) + " of " + types;
        }

        private RexNode without(RexNode expression) {
            if (expression instanceof RexLiteral literal) {
                return take(literal);
            }
            if (expression instanceof RexCall call && isOfValues(call)) {
                List<RexNode> operands = new ArrayList<>();
                for (RexNode operand : call.getOperands()) {
                    operands.add(without(operand));
                }
                return call.clone(call.getType(), operands);
            }
            return expression;
        }

        private static boolean isOfValues(RexCall call) {
            return OF_VALUES.contains(call.getKind())
                    || call.getOperator().getName().equals(CONCATENATION)
                    || call.getKind() == SqlKind.CAST
                            && call.getOperands().get(0) instanceof RexCall; // else a constant
        }

        private RexNode take(RexLiteral literal) {
            RelDataType type = TypeMapper.relType(TypeMapper.dataType(literal.getType()), literal.isNull());
            constants.add(literal);
            types.add(type);
            return new RexInputRef(constants.size() - 1, type);
        }
    }
}
