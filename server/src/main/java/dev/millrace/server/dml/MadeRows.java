package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.server.lookup.GivenValues;
import dev.millrace.server.lookup.PreparedCalc;
import dev.millrace.server.lookup.PreparedLookupRows;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.statement.Query;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows of VALUES with parameters, for any values: an INSERT's. Belongs to the session's thread. */
final class MadeRows implements PreparedLookupRows {
    private static final int MOST_ROWS = 16; // each has its code; of more, the planner's work is the smaller part
    private static final Schema NO_COLUMNS = new Schema(List.of());

    private final List<PreparedCalc> rows = new ArrayList<>();
    private final Schema schema;
    private final BufferAllocator allocator;

    private MadeRows(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.allocator = allocator;
    }

    /** The rows of a plan that computes few of them from nothing but values. */
    static Optional<MadeRows> of(PlanNode plan, BufferAllocator allocator, Clock clock) {
        List<PlanNode.Calc> calcs = new ArrayList<>();
        PlanNode.Scan nothing = new PlanNode.Scan("", List.of(), List.of(), NO_COLUMNS);
        PlanNode node = withoutExchange(plan);
        List<Expression> projections = List.of();
        if (node instanceof PlanNode.Calc calc && calc.condition().isEmpty()) {
            projections = calc.projections();
            node = withoutExchange(calc.input());
        }
        if (!(node instanceof PlanNode.Values values) || values.rows().size() > MOST_ROWS) {
            return Optional.empty();
        }
        for (List<Expression> row : values.rows()) {
            List<Expression> computed = projections.isEmpty() ? row : Expressions.substitute(projections, row);
            if (computed.stream().anyMatch(UserCalls::isIn)) {
                return Optional.empty();
            }
            calcs.add(new PlanNode.Calc(nothing, Optional.empty(), computed, plan.schema()));
        }
        MadeRows made = new MadeRows(plan.schema(), allocator);
        try {
            calcs.forEach(calc -> made.rows.add(new PreparedCalc(calc, allocator, clock)));
            return Optional.of(made);
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
    }

    private static PlanNode withoutExchange(PlanNode plan) {
        PlanNode node = plan;
        while (node instanceof PlanNode.Exchange exchange) {
            node = exchange.input();
        }
        return node;
    }

    @Override
    public Optional<StatementResult.Rows> rows(Query query, GivenValues values) {
        int[] columns = IntStream.range(0, schema.size()).toArray();
        try (Batch one = Batch.of(NO_COLUMNS, new FieldVector[0], 1);
                RowCopier copier = new RowCopier(schema, allocator)) {
            for (PreparedCalc row : rows) {
                try (Batch computed = row.compute(one, values).orElseThrow()) {
                    copier.copyAll(computed, columns);
                }
            }
            return Optional.of(FixedRows.of(copier.build()));
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        Closing.all(rows);
        rows.clear();
    }
}
