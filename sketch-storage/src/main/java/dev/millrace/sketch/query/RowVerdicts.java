package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.TextSymbols;
import java.util.List;
import java.util.Optional;

/** Which rows meet conditions, for operations that keep rows. Stateless. */
public final class RowVerdicts {
    /** Takes rows {@code from} to {@code to}, excluded. */
    @FunctionalInterface
    public interface Range {
        void accept(int from, int to);
    }

    private RowVerdicts() {}

    /** Hands on, in order, the ranges of rows whose values in the sketch meet all conditions. */
    public static void forEach(Sketch sketch, List<Condition> conditions, Range to) {
        int[] features = new int[conditions.size()];
        byte[][] verdicts = new byte[features.length][];
        for (int i = 0; i < features.length; i++) {
            Condition condition = conditions.get(i);
            features[i] = sketch.schema().indexOf(condition.feature());
            checkKind(sketch, condition, features[i]);
            verdicts[i] = condition.verdicts(sketch.column(features[i]));
        }
        RunMerger merger = new RunMerger(sketch, features, 0, sketch.rows());
        int from = 0;
        while (merger.next()) {
            int verdict = Condition.SEEN;
            for (int i = 0; i < features.length; i++) {
                verdict &= verdicts[i][merger.ranks()[i]];
            }
            if (verdict != 0) {
                to.accept(from, from + merger.length());
            }
            from += merger.length();
        }
    }

    static void checkKind(Sketch sketch, Condition condition, int feature) {
        boolean text = sketch.column(feature).symbols() instanceof TextSymbols;
        if (text && condition instanceof Condition.Range || !text && condition instanceof Condition.OneOf) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    condition.feature() + " is "
                            + sketch.schema().feature(feature).type() + ", which the condition is not for");
        }
    }

    /** The value of a rank: a Double, Long, Boolean or String; empty for NULL. */
    public static Optional<Object> value(Sketch sketch, int feature, int rank) {
        return Values.of(sketch, feature, rank);
    }
}
