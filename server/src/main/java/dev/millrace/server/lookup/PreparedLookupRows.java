package dev.millrace.server.lookup;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.server.result.StatementResult;
import dev.millrace.sql.statement.Query;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rows of a change with parameters, planned once: they are found by their key, or made of values. */
public interface PreparedLookupRows extends AutoCloseable {
    /** The rows with values, as the session sees them; none where they are to be had in no such way. */
    Optional<StatementResult.Rows> rows(Query query, GivenValues values);

    @Override
    void close();

    /** A parameter, by its number from 0, where it has a type. */
    record Place(int number, DataType type) {}

    /** Where a plan without sub-plans has parameters, in itself and in what it reads. */
    static List<Place> places(PlanNode plan) {
        List<Place> places = new ArrayList<>();
        List<Expression> expressions = new ArrayList<>();
        if (plan instanceof PlanNode.Calc calc) {
            expressions.addAll(calc.projections());
            calc.condition().ifPresent(expressions::add);
        } else if (plan instanceof PlanNode.Values values) {
            values.rows().forEach(expressions::addAll);
        }
        for (Expression expression : expressions) {
            Expressions.walk(
                    expression,
                    part -> ParameterPlace.number(part)
                            .ifPresent(number -> places.add(new Place(number, part.type()))));
        }
        plan.inputs().forEach(input -> places.addAll(places(input)));
        return places;
    }

    /** Whether each of so many parameters has a place: one that has none may have been used while the plan was made. */
    static boolean hasAll(List<Place> places, int count) {
        Set<Integer> numbers = new HashSet<>();
        places.forEach(place -> numbers.add(place.number));
        return numbers.size() == count;
    }
}
