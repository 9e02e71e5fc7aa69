package dev.millrace.server.lookup;

import dev.millrace.engine.view.KeyColumns;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.explain.ExpressionText;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * How a query is answered from an index: a filter and a projection over one table or view, of which the filter gives values for
 * a key.
 *
 * @param relation the table or view
 * @param index its name, as EXPLAIN shows it
 * @param key the columns of the relation that the index is by
 * @param equal for the first columns of the key, values of which each has one
 * @param scan what is read of the relation
 * @param whole filter and projection of the query, over the scan
 * @param rest what is done with the rows that are found; none where they are the answer
 */
public record KeyPlan(
        String relation,
        String index,
        KeyColumns key,
        List<List<Expression>> equal,
        PlanNode.Scan scan,
        PlanNode.Calc whole,
        Optional<PlanNode.Calc> rest) {
    private static final int MOST_KEYS = 1_000;

    /** @param object the relation of a name, if it is a table or materialized view that can be read */
    static Optional<KeyPlan> of(PlanNode plan, Function<String, Optional<CatalogObject>> object) {
        PlanNode node = plan;
        while (node instanceof PlanNode.Exchange exchange) {
            node = exchange.input();
        }
        if (!(node instanceof PlanNode.Calc calc)) {
            return Optional.empty();
        }
        PlanNode below = calc.input();
        while (below instanceof PlanNode.Exchange exchange) {
            below = exchange.input();
        }
        if (!(below instanceof PlanNode.Scan scan)
                || calc.condition().isEmpty()
                || readsProctime(calc)
                || UserCalls.isIn(calc)) {
            return Optional.empty();
        }
        Optional<CatalogObject> relation = object.apply(scan.relation());
        if (relation.isEmpty()) {
            return Optional.empty();
        }
        KeyMatch match = new KeyMatch(Expressions.conjuncts(calc.condition()));
        for (KeyChoice choice : choices(relation.get())) {
            Optional<KeyPlan> found = byKey(choice, match, calc, scan);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private record KeyChoice(String name, KeyColumns key) {}

    private static List<KeyChoice> choices(CatalogObject relation) {
        List<KeyChoice> choices = new ArrayList<>();
        if (!relation.primaryKey().isEmpty()) {
            choices.add(new KeyChoice(relation.name() + "_pkey", new KeyColumns(relation.primaryKey())));
        }
        for (Unique unique : relation.rules().uniques()) {
            List<Integer> columns =
                    unique.columns().stream().map(relation.schema()::indexOf).toList();
            choices.add(new KeyChoice(unique.name(), new KeyColumns(columns)));
        }
        choices.removeIf(choice -> !choice.key.columns().stream()
                .allMatch(column -> KeyColumns.suits(relation.schema().type(column))));
        return choices;
    }

    private static Optional<KeyPlan> byKey(KeyChoice choice, KeyMatch match, PlanNode.Calc calc, PlanNode.Scan scan) {
        List<List<Expression>> equal = new ArrayList<>();
        List<Expression> left = new ArrayList<>(Expressions.conjuncts(calc.condition()));
        long keys = 1;
        for (int column : choice.key.columns()) {
            Optional<KeyMatch.Equal> values = match.equal(scan.columns().indexOf(column));
            if (values.isEmpty()) {
                return Optional.empty();
            }
            equal.add(values.get().values());
            keys *= values.get().values().size();
            left.remove(values.get().conjunct());
        }
        if (keys > MOST_KEYS) {
            return Optional.empty();
        }
        PlanNode.Calc whole = new PlanNode.Calc(scan, calc.condition(), calc.projections(), calc.schema());
        return Optional.of(
                new KeyPlan(scan.relation(), choice.name, choice.key, equal, scan, whole, rest(whole, left)));
    }

    /** The type of a column of the key. */
    public DataType type(int place) {
        return scan.schema().type(scan.columns().indexOf(key.columns().get(place)));
    }

    /** What is left to do; the columns alone are taken from the rows at once. */
    private static Optional<PlanNode.Calc> rest(PlanNode.Calc whole, List<Expression> conjuncts) {
        boolean same = conjuncts.isEmpty() && whole.projections().equals(Nodes.columns(whole.input()));
        return same
                ? Optional.empty()
                : Optional.of(new PlanNode.Calc(
                        whole.input(), Expressions.and(conjuncts), whole.projections(), whole.schema()));
    }

    private static boolean readsProctime(PlanNode.Calc calc) {
        List<Expression> all = new ArrayList<>(calc.projections());
        calc.condition().ifPresent(all::add);
        return all.stream().anyMatch(Expressions::readsProctime);
    }

    /** The columns of the relation that the answer consists of, if it is nothing but columns of the rows found. */
    Optional<List<Integer>> columns() {
        if (rest.isEmpty()) {
            return Optional.of(scan.columns());
        }
        List<Integer> columns = new ArrayList<>();
        for (Expression projection : rest.get().projections()) {
            if (rest.get().condition().isPresent() || !(projection instanceof Expression.Column column)) {
                return Optional.empty();
            }
            columns.add(scan.columns().get(column.index()));
        }
        return Optional.of(columns);
    }

    /** A line for EXPLAIN, above what is done with the rows. */
    public String describe(DatabaseCatalog catalog) {
        Schema schema = catalog.object(relation).orElseThrow().schema();
        List<String> terms = new ArrayList<>();
        for (int i = 0; i < equal.size(); i++) {
            String name = schema.field(key.columns().get(i)).name();
            List<String> values =
                    equal.get(i).stream().map(ExpressionText::constant).toList();
            terms.add(values.size() == 1 ? name + " = " + values.get(0) : name + " IN " + values);
        }
        return "Index Lookup on " + relation + " using " + index + ": " + String.join(", ", terms)
                + ", in the place of:";
    }

    /** Whether there is at most one row for each set of values, of which there are few. */
    public boolean isShort() {
        return equal.stream().mapToInt(List::size).sum() <= equal.size() + 100;
    }
}
