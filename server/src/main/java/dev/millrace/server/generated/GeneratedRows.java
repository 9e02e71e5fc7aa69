package dev.millrace.server.generated;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What readers of one scan compute.
 *
 * @param stream for messages
 * @param given columns of the connector's rows
 * @param columns over those: first the ones asked for, then computed ones that nobody asked for but that must be sound
 * @param schema of {@code columns}
 * @param asked how many are asked for
 */
record GeneratedRows(String stream, Schema given, List<Expression> columns, Schema schema, int asked) {
    GeneratedRows {
        columns = List.copyOf(columns);
    }

    boolean isGenerated(int column) {
        return given.indexOf(schema.field(column).name()) < 0;
    }

    Schema askedSchema() {
        return new Schema(schema.fields().subList(0, asked));
    }

    /** The projection, whose computed columns may be NULL: whether they are is looked at afterwards. */
    PlanNode.Calc calc() {
        List<Field> fields = schema.fields().stream()
                .map(field -> new Field(field.name(), field.type(), true))
                .toList();
        List<Integer> all = IntStream.range(0, given.size()).boxed().toList();
        return new PlanNode.Calc(
                new PlanNode.Scan(stream, all, List.of(), given), Optional.empty(), columns, new Schema(fields));
    }
}
