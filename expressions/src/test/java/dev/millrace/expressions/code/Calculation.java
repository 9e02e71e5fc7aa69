package dev.millrace.expressions.code;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.plan.expression.Expression;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * A condition and what is computed of the rows that it holds for, run by generated code as the engine's operator does, for
 * tests: constants are folded before, and a failure names its row.
 */
public record Calculation(Schema input, Optional<Expression> condition, List<Expression> projections) {
    /** The results, as columns of which each may be NULL. */
    public Schema schema() {
        List<Field> fields = new ArrayList<>();
        projections.forEach(expression -> fields.add(new Field("p" + fields.size(), expression.type(), true)));
        return new Schema(fields);
    }

    /** What it makes of rows, all in one batch. */
    public List<Row> evaluate(List<Row> rows, BufferAllocator allocator) {
        return evaluate(rows, allocator, CodeSize.USUAL);
    }

    /** The same by methods and classes of some size. */
    List<Row> evaluate(List<Row> rows, BufferAllocator allocator, CodeSize size) {
        CalcProgram program = new CalcProgram(
                input,
                condition.map(ConstantFolder::fold),
                projections.stream().map(ConstantFolder::fold).toList(),
                size);
        try (Batch batch = TestBatches.of(input, allocator, rows);
                CalcKernel kernel = program.instantiate(program.hasNulls(batch), allocator)) {
            kernel.begin(batch.rowCount(), 0);
            int[] selected = new int[batch.rowCount()];
            int passed = condition.isPresent() ? kernel.select(batch, selected) : batch.rowCount();
            return passed == 0 ? List.of() : project(kernel, batch, selected, passed, allocator);
        } catch (CalcKernel.RowFailure failure) {
            if (failure.failure() instanceof MillraceException told) {
                throw told.in("row " + (failure.row() + 1));
            }
            throw failure.failure();
        }
    }

    private List<Row> project(CalcKernel kernel, Batch batch, int[] selected, int rows, BufferAllocator allocator) {
        Schema schema = schema();
        List<AutoCloseable> owned = new ArrayList<>();
        try {
            OutputColumn[] columns = new OutputColumn[schema.size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = new OutputColumn(schema.field(i), rows, 0, allocator);
                owned.add(columns[i]);
            }
            kernel.project(batch, selected, rows, columns);
            FieldVector[] vectors = new FieldVector[columns.length];
            for (int i = 0; i < columns.length; i++) {
                vectors[i] = columns[i].finish(rows);
                owned.add(vectors[i]);
            }
            try (Batch results = Batch.view(schema, vectors, rows, Optional.empty(), List.of())) {
                return TestBatches.rows(results);
            }
        } finally {
            Closing.all(owned);
        }
    }
}
