package dev.millrace.connectors.parquet;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.type.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Statistics;

/** Whether a row group can have rows that a scan wants, as far as what it says of its columns' least and greatest values goes. */
final class GroupStatistics {
    private GroupStatistics() {}

    /** @param nodes of the relation's columns, in the file */
    static boolean mayHave(RowGroup group, List<SchemaNode> nodes, List<DataType> types, List<ColumnPredicate> all) {
        return all.stream().allMatch(predicate -> {
            SchemaNode node = nodes.get(predicate.column());
            return node.leaf().isEmpty()
                    || node.repetitions() > 0
                    || mayHave(
                            group.getNum_rows(),
                            group.getColumns().get(node.leafNumber()).getMeta_data(),
                            node.leaf().get(),
                            types.get(predicate.column()),
                            predicate);
        });
    }

    private static boolean mayHave(
            long rows, ColumnMetaData column, LeafType leaf, DataType type, ColumnPredicate predicate) {
        if (!column.isSetStatistics()) {
            return true;
        }
        Statistics statistics = column.getStatistics();
        boolean allNull = statistics.isSetNull_count() && statistics.getNull_count() == rows;
        switch (predicate.comparison()) {
            case IS_NULL -> {
                return !statistics.isSetNull_count() || statistics.getNull_count() > 0;
            }
            case IS_NOT_NULL -> {
                return !allNull;
            }
            case EQ, NE, LT, LE, GT, GE -> {
                if (allNull) {
                    return false;
                }
            }
        }
        byte[] least = statistics.getMin_value();
        byte[] greatest = statistics.getMax_value();
        if (least == null || greatest == null || predicate.value().isEmpty()) {
            return true;
        }
        Object constant = predicate.value().get();
        if (type.isText() && leaf.type().filter(DataType::isText).isPresent() && constant instanceof String text) {
            byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
            return mayMatch(
                    predicate.comparison(),
                    Arrays.compareUnsigned(least, wanted),
                    Arrays.compareUnsigned(greatest, wanted),
                    true);
        }
        if (constant instanceof Long whole) {
            Optional<Long> from = whole(leaf, least);
            Optional<Long> to = whole(leaf, greatest);
            return from.isEmpty()
                    || to.isEmpty()
                    || mayMatch(
                            predicate.comparison(),
                            from.get().compareTo(whole),
                            to.get().compareTo(whole),
                            true);
        }
        if (constant instanceof Double real && !real.isNaN()) {
            Optional<Double> from = real(leaf, least);
            Optional<Double> to = real(leaf, greatest);
            double value = type.kind() == DataType.Kind.REAL ? real.floatValue() : real;
            // What is no number is greater than all, and is not among the greatest values.
            return from.isEmpty()
                    || to.isEmpty()
                    || mayMatch(predicate.comparison(), sign(from.get(), value), sign(to.get(), value), false);
        }
        return true;
    }

    private static int sign(double a, double b) {
        return a < b ? -1 : a > b ? 1 : 0; // -0 is 0
    }

    /**
     * @param least how the least value compares with the constant
     * @param isGreatestKnown whether no value is greater than the greatest
     */
    private static boolean mayMatch(
            ColumnPredicate.Comparison comparison, int least, int greatest, boolean isGreatestKnown) {
        return switch (comparison) {
            case EQ -> least <= 0 && greatest >= 0;
            case LT -> least < 0;
            case LE -> least <= 0;
            case GT -> !isGreatestKnown || greatest > 0;
            case GE -> !isGreatestKnown || greatest >= 0;
            case NE, IS_NULL, IS_NOT_NULL -> true;
        };
    }

    /** A number as the column's constants have it; times in microseconds, rounded as values are. */
    private static Optional<Long> whole(LeafType leaf, byte[] bytes) {
        ByteBuffer value = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length != leaf.width() || bytes.length != 4 && bytes.length != 8) {
            return Optional.empty();
        }
        long number = bytes.length == 4 ? value.getInt() : value.getLong();
        return switch (leaf.meaning()) {
            case INTEGER, DATE, TIME_MICROS, TIMESTAMP_MICROS -> Optional.of(number);
            case TIME_MILLIS, TIMESTAMP_MILLIS ->
                Math.abs(number) < Long.MAX_VALUE / 1_000 ? Optional.of(number * 1_000) : Optional.empty();
            case TIME_NANOS, TIMESTAMP_NANOS -> Optional.of(Math.floorDiv(number, 1_000));
            default -> Optional.empty(); // of an order that is not that of numbers with a sign
        };
    }

    private static Optional<Double> real(LeafType leaf, byte[] bytes) {
        ByteBuffer value = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        double real;
        if (leaf.meaning() == LeafType.Meaning.DOUBLE && bytes.length == 8) {
            real = value.getDouble();
        } else if (leaf.meaning() == LeafType.Meaning.FLOAT && bytes.length == 4) {
            real = value.getFloat();
        } else {
            return Optional.empty();
        }
        return Double.isNaN(real) ? Optional.empty() : Optional.of(real);
    }
}
