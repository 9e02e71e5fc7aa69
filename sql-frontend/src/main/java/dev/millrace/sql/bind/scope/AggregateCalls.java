package dev.millrace.sql.bind.scope;

import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;

/**
 * The aggregate calls of one SELECT, collected while its expressions are bound. A call is stood in for by a reference to
 * a column behind those of FROM, until the SELECT knows its groups.
 */
public final class AggregateCalls {
    /** One key of an ordering over the rows of FROM. */
    public record SortKey(RexNode value, boolean descending, boolean nullsFirst) {}

    /**
     * One call over the rows of FROM.
     *
     * @param grouping where GROUPING was called, which is no function of rows but of the grouping set: then {@code
     *     arguments} are keys and {@code function} means nothing
     */
    public record Call(
            Function function,
            List<RexNode> arguments,
            boolean distinct,
            Optional<RexNode> filter,
            List<SortKey> ordering,
            DataType type,
            boolean nullable,
            Optional<SqlNode> grouping) {}

    private final int fromColumns;
    private final List<Call> calls = new ArrayList<>();
    private Optional<SqlNode> direct = Optional.empty();

    public AggregateCalls(int fromColumns) {
        this.fromColumns = fromColumns;
    }

    /** The stand-in for a call; equal calls have one. */
    public RexNode add(Call call) {
        int place = calls.indexOf(call);
        if (place < 0) {
            place = calls.size();
            calls.add(call);
        }
        return new RexInputRef(fromColumns + place, TypeMapper.relType(call.type(), call.nullable()));
    }

    /** The stand-in for a GROUPING. */
    public RexNode addGrouping(List<RexNode> keys, SqlNode where) {
        for (int place = 0; place < calls.size(); place++) {
            if (calls.get(place).grouping().isPresent()
                    && calls.get(place).arguments().equals(keys)) {
                return new RexInputRef(fromColumns + place, TypeMapper.relType(DataType.INTEGER, false));
            }
        }
        return add(new Call(
                Function.COUNT, keys, false, Optional.empty(), List.of(), DataType.INTEGER, false, Optional.of(where)));
    }

    /** An argument in front of WITHIN GROUP reads a column, which is that of the group. */
    public void readsGroup(SqlNode where) {
        direct = Optional.of(where);
    }

    /** The place of such an argument. */
    public Optional<SqlNode> readingGroup() {
        return direct;
    }

    public List<Call> calls() {
        return calls;
    }
}
