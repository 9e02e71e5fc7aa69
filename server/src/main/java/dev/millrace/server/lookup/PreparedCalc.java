package dev.millrace.server.lookup;

import dev.millrace.batch.Batch;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.time.Clock;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * A filter and projections with parameters, of few rows at a time: compiled once, for any values. The values are columns
 * behind those of the rows, so the code is the same for all. On any thread but one at a time.
 */
public final class PreparedCalc implements AutoCloseable {
    private final BufferAllocator allocator;
    private final Map<PreparedLookupRows.Place, Integer> places = new LinkedHashMap<>(); // the column of each
    private final Schema given;
    private final Schema widened;
    private final DirectCalc.Kept kept;

    /**
     * @param calc over rows of its input's schema
     * @param clock of the statement under way
     */
    public PreparedCalc(PlanNode.Calc calc, BufferAllocator allocator, Clock clock) {
        this.allocator = allocator;
        int width = calc.input().schema().size();
        Optional<Expression> condition = calc.condition().map(expression -> widened(expression, width));
        List<Expression> projections = calc.projections().stream()
                .map(expression -> widened(expression, width))
                .toList();
        this.given = new Schema(places.keySet().stream()
                .map(place -> new Field("$" + (place.number() + 1), place.type(), true))
                .toList());
        this.widened = calc.input().schema().concat(given);
        List<Integer> all = IntStream.range(0, widened.size()).boxed().toList();
        PlanNode.Scan rows = new PlanNode.Scan("", all, List.of(), widened);
        this.kept =
                new DirectCalc.Kept(new PlanNode.Calc(rows, condition, projections, calc.schema()), allocator, clock);
    }

    private Expression widened(Expression expression, int width) {
        return Expressions.transform(
                expression,
                part -> ParameterPlace.number(part)
                        .<Expression>map(number -> {
                            PreparedLookupRows.Place place = new PreparedLookupRows.Place(number, part.type());
                            int column = places.computeIfAbsent(place, more -> width + places.size());
                            return new Column(column, part.type(), true);
                        })
                        .orElse(part));
    }

    /**
     * What rows give, in a batch that the caller owns; empty for none.
     *
     * @param rows which stay the caller's
     * @throws dev.millrace.error.MillraceException what computing a row throws
     */
    public Optional<Batch> compute(Batch rows, GivenValues values) {
        int count = rows.rowCount();
        if (count == 0) {
            return Optional.empty();
        }
        List<Expression> row = new ArrayList<>(places.size());
        places.keySet().forEach(place -> row.add(values.value(place.number(), place.type())));
        try (Batch more = ConstantRows.of(new PlanNode.Values(Collections.nCopies(count, row), given), count, allocator)
                .get(0)) {
            FieldVector[] columns = new FieldVector[widened.size()];
            int own = rows.columnCount();
            for (int i = 0; i < columns.length; i++) {
                columns[i] = i < own ? rows.column(i) : more.column(i - own);
            }
            try (Batch all =
                    Batch.view(widened, columns, count, rows.weights(), List.of(rows.retain(), more.retain()))) {
                return kept.filter(all);
            }
        }
    }

    @Override
    public void close() {
        kept.close();
    }
}
