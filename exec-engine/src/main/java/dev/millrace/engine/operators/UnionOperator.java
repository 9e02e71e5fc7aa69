package dev.millrace.engine.operators;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/** Passes the rows of all inputs on, under one schema. Their watermarks and epochs are the host's business. */
public final class UnionOperator implements Operator {
    private final Schema schema;

    public UnionOperator(PlanNode.Union node) {
        this.schema = node.schema();
    }

    @Override
    public void open(OperatorContext context) {}

    @Override
    public void process(int port, Batch batch, Output output) {
        output.emit(batch.schema() == schema ? batch : renamed(batch));
    }

    private Batch renamed(Batch batch) {
        FieldVector[] columns = new FieldVector[batch.columnCount()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = batch.column(column);
        }
        return Batch.view(schema, columns, batch.rowCount(), batch.weights(), List.of(batch));
    }

    @Override
    public void close() {}
}
