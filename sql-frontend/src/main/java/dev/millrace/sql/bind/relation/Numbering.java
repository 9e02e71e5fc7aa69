package dev.millrace.sql.bind.relation;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall.Function;
import dev.millrace.sql.algebra.OverFunction;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexWindowBounds;
import org.apache.calcite.sql.SqlKind;

/** Rows chosen by their number: DISTINCT ON, FETCH .. WITH TIES and limits per key, said by window functions. */
public final class Numbering {
    private Numbering() {}

    /** Of the rows that agree in {@code keys} the first in order. */
    public static RelNode firstPer(RelNode input, List<Integer> keys, List<RelFieldCollation> order) {
        return keep(input, List.of(over(input, Function.ROW_NUMBER, keys, order)), List.of("eq"), List.of(1L));
    }

    /** Of the rows that agree in {@code keys} those after {@code offset}, as many as {@code fetch} says, in order. */
    public static RelNode somePer(
            RelNode input,
            List<Integer> keys,
            List<RelFieldCollation> order,
            Optional<RexNode> offset,
            Optional<RexNode> fetch) {
        long skipped = offset.map(Numbering::number).orElse(0L);
        RexNode number = over(input, Function.ROW_NUMBER, keys, order);
        List<RexNode> numbers = new ArrayList<>(List.of(number));
        List<String> tests = new ArrayList<>(List.of("gt"));
        List<Long> bounds = new ArrayList<>(List.of(skipped));
        fetch.ifPresent(count -> {
            numbers.add(number);
            tests.add("le");
            bounds.add(last(skipped, number(count)));
        });
        return keep(input, numbers, tests, bounds);
    }

    /** The rows after {@code offset} up to those that tie with the last of {@code fetch}. */
    public static RelNode withTies(
            RelNode input, List<RelFieldCollation> order, Optional<RexNode> offset, Optional<RexNode> fetch) {
        long skipped = offset.map(Numbering::number).orElse(0L);
        long last = last(skipped, fetch.map(Numbering::number).orElse(1L));
        List<RexNode> numbers = new ArrayList<>(List.of(over(input, Function.RANK, List.of(), order)));
        List<String> tests = new ArrayList<>(List.of("le"));
        List<Long> bounds = new ArrayList<>(List.of(last));
        if (skipped > 0) {
            numbers.add(over(input, Function.ROW_NUMBER, List.of(), order));
            tests.add("gt");
            bounds.add(skipped);
        }
        return keep(input, numbers, tests, bounds);
    }

    /** The number of the last row, or of the last that there can be. */
    private static long last(long skipped, long count) {
        return count > Long.MAX_VALUE - skipped ? Long.MAX_VALUE : skipped + count;
    }

    private static long number(RexNode count) {
        if (count instanceof RexLiteral literal) {
            return literal.getValueAs(BigDecimal.class).longValueExact();
        }
        throw MillraceException.notAvailableYet("a count of rows per key, or WITH TIES, that is not a number")
                .withHint(
                        "write the number, or QUALIFY row_number() or rank() OVER (PARTITION BY .. ORDER BY ..) <= the count");
    }

    private static RexNode over(
            RelNode input, Function function, List<Integer> partition, List<RelFieldCollation> order) {
        List<RexNode> columns = RelNodes.references(input);
        ImmutableList.Builder<RexFieldCollation> collations = ImmutableList.builder();
        for (RelFieldCollation key : order) {
            Set<SqlKind> directions = EnumSet.of(
                    key.nullDirection == RelFieldCollation.NullDirection.FIRST
                            ? SqlKind.NULLS_FIRST
                            : SqlKind.NULLS_LAST);
            if (key.getDirection().isDescending()) {
                directions.add(SqlKind.DESCENDING);
            }
            collations.add(new RexFieldCollation(columns.get(key.getFieldIndex()), directions));
        }
        OverFunction.Spec spec = new OverFunction.Spec(function, Optional.empty(), false, false, false, 0, Frame.ALL);
        return Rex.builder()
                .makeOver(
                        TypeMapper.relType(DataType.BIGINT, false),
                        new OverFunction(spec),
                        List.of(),
                        partition.stream().map(columns::get).toList(),
                        collations.build(),
                        RexWindowBounds.UNBOUNDED_PRECEDING,
                        RexWindowBounds.CURRENT_ROW,
                        true,
                        true,
                        false,
                        false,
                        false);
    }

    /** The input's rows for which all tests of their numbers hold. */
    private static RelNode keep(RelNode input, List<RexNode> numbers, List<String> tests, List<Long> bounds) {
        List<RexNode> columns = new ArrayList<>(RelNodes.references(input));
        List<String> names = new ArrayList<>(input.getRowType().getFieldNames());
        int width = columns.size();
        columns.addAll(numbers);
        numbers.forEach(number -> names.add("number"));
        RelNode numbered = RelNodes.project(input, columns, names);
        List<RexNode> conditions = new ArrayList<>();
        for (int i = 0; i < tests.size(); i++) {
            conditions.add(Rex.call(
                    tests.get(i),
                    List.of(RelNodes.references(numbered).get(width + i), Rex.bigint(bounds.get(i))),
                    DataType.BOOLEAN,
                    false));
        }
        RelNode kept = RelNodes.filter(numbered, Rex.combine("and", conditions), Optional.empty());
        return RelNodes.project(
                kept,
                RelNodes.references(kept).subList(0, width),
                input.getRowType().getFieldNames());
    }
}
