package dev.millrace.sql.bind;

import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;

/**
 * The aggregate calls of one SELECT, collected while its expressions are bound. A call is stood in for by a reference to
 * a column behind those of FROM, until the SELECT knows its groups.
 */
final class AggregateCalls {
    /** One key of an ordering over the rows of FROM. */
    record SortKey(RexNode value, boolean descending, boolean nullsFirst) {}

    /** One call over the rows of FROM. */
    record Call(
            Function function,
            List<RexNode> arguments,
            boolean distinct,
            Optional<RexNode> filter,
            List<SortKey> ordering,
            DataType type,
            boolean nullable) {}

    private final int fromColumns;
    private final List<Call> calls = new ArrayList<>();

    AggregateCalls(int fromColumns) {
        this.fromColumns = fromColumns;
    }

    /** The stand-in for a call; equal calls have one. */
    RexNode add(Call call) {
        int place = calls.indexOf(call);
        if (place < 0) {
            place = calls.size();
            calls.add(call);
        }
        return new RexInputRef(fromColumns + place, TypeMapper.relType(call.type(), call.nullable()));
    }

    List<Call> calls() {
        return calls;
    }
}
