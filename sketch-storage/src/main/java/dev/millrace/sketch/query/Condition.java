package dev.millrace.sketch.query;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.TextSymbols;
import java.util.Set;

/**
 * What rows must meet, on one feature; several are met together. Where a value lies so near a limit that its error might
 * take it across, the row counts as possible but not certain.
 */
public sealed interface Condition {
    /** Bits of a verdict: the true value certainly meets it, it possibly does, the value in the sketch does. */
    int CERTAIN = 1;

    int POSSIBLE = 2;
    int SEEN = 4;
    int ALL = CERTAIN | POSSIBLE | SEEN;

    String feature();

    /** The verdict on each rank of a column, NULL included. */
    byte[] verdicts(Column column);

    /** A number from {@code low} to {@code high}, both included. */
    static Condition between(String feature, double low, double high) {
        return new Range(feature, low, high);
    }

    static Condition atLeast(String feature, double low) {
        return new Range(feature, low, Double.POSITIVE_INFINITY);
    }

    static Condition atMost(String feature, double high) {
        return new Range(feature, Double.NEGATIVE_INFINITY, high);
    }

    static Condition above(String feature, double low) {
        return new Range(feature, Math.nextUp(low), Double.POSITIVE_INFINITY);
    }

    static Condition below(String feature, double high) {
        return new Range(feature, Double.NEGATIVE_INFINITY, Math.nextDown(high));
    }

    /** One of some texts. */
    static Condition in(String feature, String... texts) {
        return new OneOf(feature, Set.of(texts));
    }

    static Condition isTrue(String feature) {
        return new Range(feature, 1, 1);
    }

    static Condition isFalse(String feature) {
        return new Range(feature, 0, 0);
    }

    static Condition isNull(String feature) {
        return new Null(feature, true);
    }

    static Condition isNotNull(String feature) {
        return new Null(feature, false);
    }

    /** Numbers in a range. NaN is in none. */
    record Range(String feature, double low, double high) implements Condition {
        @Override
        public byte[] verdicts(Column column) {
            NumberSymbols symbols = column.numbers();
            byte[] verdicts = new byte[symbols.size() + 1];
            double[] values = symbols.values();
            for (int rank = 0; rank < values.length; rank++) {
                double value = values[rank];
                double error = symbols.error(rank);
                int verdict = value >= low && value <= high ? SEEN : 0;
                // Rounding of value and error must not make certain what is not.
                if (error == 0) {
                    verdict = verdict != 0 ? ALL : 0;
                } else {
                    double from = Math.nextDown(value - error);
                    double to = Math.nextUp(value + error);
                    verdict |= from >= low && to <= high ? CERTAIN : 0;
                    verdict |= to >= low && from <= high ? POSSIBLE : 0;
                }
                verdicts[rank] = (byte) verdict;
            }
            return verdicts;
        }
    }

    /** Some texts. */
    record OneOf(String feature, Set<String> texts) implements Condition {
        @Override
        public byte[] verdicts(Column column) {
            TextSymbols symbols = (TextSymbols) column.symbols();
            byte[] verdicts = new byte[symbols.size() + 1];
            for (int rank = 0; rank < symbols.size(); rank++) {
                verdicts[rank] = (byte) (texts.contains(symbols.text(rank)) ? ALL : 0);
            }
            return verdicts;
        }
    }

    /** NULL or not. */
    record Null(String feature, boolean isNull) implements Condition {
        @Override
        public byte[] verdicts(Column column) {
            byte[] verdicts = new byte[column.symbols().size() + 1];
            java.util.Arrays.fill(verdicts, (byte) (isNull ? 0 : ALL));
            verdicts[verdicts.length - 1] = (byte) (isNull ? ALL : 0);
            return verdicts;
        }
    }
}
