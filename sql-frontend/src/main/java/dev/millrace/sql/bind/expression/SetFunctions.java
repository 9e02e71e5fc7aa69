package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;

/**
 * Functions that give several rows, called where a value is expected. The call is stood in for by one of a function of
 * its own until the project is made; there the row is unfolded, by all calls side by side, the shorter ones filled with NULL:
 *
 * <pre>
 *   SELECT x, unnest(a) + 1 FROM t   is   SELECT x, u + 1 FROM t, unnest(a) u
 * </pre>
 *
 * What holds no such call is computed before the row is unfolded: window functions see the rows as they were.
 */
public final class SetFunctions {
    private static final String STANDIN = "rows of ";
    private static final Set<String> CLAUSES = Set.of("SELECT", "ORDER BY", "GROUP BY", "DISTINCT ON");

    private SetFunctions() {}

    /** The value that stands for a call's rows. */
    public static RexNode call(
            QueryContext context, ExpressionBinder expressions, Clause clause, String name, SqlCall call) {
        if (!CLAUSES.contains(clause.name())) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "set-returning functions are not allowed in " + clause.name(),
                            call)
                    .withHint("call " + name + " in FROM");
        }
        TableCalls functions = new TableCalls(context, expressions, 0);
        List<TableCall> calls = functions.calls(name, call, true);
        if (calls.size() != 1) {
            throw Errors.error(SqlState.UNDEFINED_FUNCTION, name + " takes one argument outside of FROM", call)
                    .withHint("call it in FROM, or once for each array");
        }
        if (functions.arguments().stream().anyMatch(SetFunctions::isIn)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "set-returning functions inside each other are not supported",
                            call)
                    .withHint("call the inner one in FROM");
        }
        List<Field> outputs = calls.get(0).outputs();
        DataType type = outputs.size() == 1 ? outputs.get(0).type() : DataType.row(outputs);
        return Rex.call(STANDIN + calls.get(0).function(), functions.arguments(), type, true);
    }

    /** Whether a bound expression calls such a function. */
    public static boolean isIn(RexNode expression) {
        boolean[] found = {false};
        expression.accept(new RexVisitorImpl<Void>(true) {
            @Override
            public Void visitCall(RexCall call) {
                found[0] |= isStandIn(call);
                return super.visitCall(call);
            }
        });
        return found[0];
    }

    private static boolean isStandIn(RexNode node) {
        return node instanceof RexCall call && call.getOperator().getName().startsWith(STANDIN);
    }

    /** What is computed only for some rows cannot give several. */
    static void reject(List<RexNode> nodes, String where, SqlNode syntax) {
        if (nodes.stream().anyMatch(SetFunctions::isIn)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "set-returning functions are not allowed in " + where,
                            syntax)
                    .withHint("call the function in FROM");
        }
    }

    /** The project of expressions that may call such functions. */
    public static RelNode project(
            RelNode input, List<RexNode> expressions, List<String> names, Optional<CorrelationId> correlation) {
        if (expressions.stream().noneMatch(SetFunctions::isIn)) {
            return RelNodes.project(input, expressions, names, correlation);
        }
        return new Unfolding(expressions).project(input, names, correlation);
    }

    /** One project, in three: what comes before, the rows, and what is made of them. */
    private static final class Unfolding {
        private final List<RexNode> expressions;
        private final List<RexNode> before = new ArrayList<>();
        private final Map<RexNode, Integer> calls = new LinkedHashMap<>(); // to the first of its columns

        Unfolding(List<RexNode> expressions) {
            this.expressions = expressions;
            expressions.forEach(this::collect);
            int column = before.size();
            for (Map.Entry<RexNode, Integer> call : calls.entrySet()) {
                call.setValue(column);
                column += outputs(call.getKey()).size();
            }
        }

        private void collect(RexNode node) {
            if (!isIn(node)) {
                if (!(node instanceof RexLiteral) && !before.contains(node)) {
                    before.add(node);
                }
            } else if (isStandIn(node)) {
                calls.put(node, 0);
            } else {
                ((RexCall) node).getOperands().forEach(this::collect);
            }
        }

        private static List<Field> outputs(RexNode call) {
            DataType type = Coercions.type(call);
            return type.kind() == Kind.ROW
                    ? type.fields().stream()
                            .map(field -> new Field(field.name(), field.type(), true))
                            .toList()
                    : List.of(new Field("value", type, true));
        }

        RelNode project(RelNode input, List<String> names, Optional<CorrelationId> correlation) {
            List<RexNode> columns = new ArrayList<>(before);
            List<TableCall> tableCalls = new ArrayList<>();
            for (RexNode call : calls.keySet()) {
                List<Integer> places = new ArrayList<>();
                for (RexNode argument : ((RexCall) call).getOperands()) {
                    places.add(columns.size());
                    columns.add(argument);
                }
                String function = ((RexCall) call).getOperator().getName().substring(STANDIN.length());
                tableCalls.add(new TableCall(function, places, outputs(call)));
            }
            List<String> columnNames = new ArrayList<>();
            for (RexNode column : columns) {
                columnNames.add(
                        column instanceof RexInputRef reference
                                ? input.getRowType().getFieldNames().get(reference.getIndex())
                                : "expression");
            }
            RelNode row = RelNodes.project(input, columns, columnNames, correlation);
            RelNode unfolded = new ExpandRel(row, before.size(), tableCalls, false, false);
            List<RexNode> results = expressions.stream()
                    .map(expression -> over(unfolded, expression))
                    .toList();
            return RelNodes.project(unfolded, results, names);
        }

        private RexNode over(RelNode unfolded, RexNode expression) {
            return expression.accept(new RexShuttle() {
                @Override
                public RexNode visitCall(RexCall call) {
                    return placed(call).orElseGet(() -> super.visitCall(call));
                }

                @Override
                public RexNode visitInputRef(RexInputRef reference) {
                    return placed(reference).orElseThrow();
                }

                @Override
                public RexNode visitOver(org.apache.calcite.rex.RexOver over) {
                    return placed(over).orElseThrow();
                }

                @Override
                public RexNode visitSubQuery(org.apache.calcite.rex.RexSubQuery query) {
                    return placed(query).orElseThrow();
                }

                @Override
                public RexNode visitFieldAccess(org.apache.calcite.rex.RexFieldAccess access) {
                    return placed(access).orElseGet(() -> super.visitFieldAccess(access));
                }

                private Optional<RexNode> placed(RexNode node) {
                    int column = before.indexOf(node);
                    if (column >= 0) {
                        return Optional.of(reference(unfolded, column));
                    }
                    return Optional.ofNullable(calls.get(node)).map(first -> value(unfolded, node, first));
                }
            });
        }

        private static RexNode value(RelNode unfolded, RexNode call, int first) {
            DataType type = Coercions.type(call);
            if (type.kind() != Kind.ROW) {
                return reference(unfolded, first);
            }
            List<RexNode> fields = new ArrayList<>();
            for (int i = 0; i < type.fields().size(); i++) {
                fields.add(reference(unfolded, first + i));
            }
            return Rex.call("make_row", fields, type, false);
        }

        private static RexNode reference(RelNode input, int column) {
            return new RexInputRef(
                    column, input.getRowType().getFieldList().get(column).getType());
        }
    }
}
