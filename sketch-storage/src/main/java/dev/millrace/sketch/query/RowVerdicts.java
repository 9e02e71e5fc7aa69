package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import java.util.ArrayList;
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

    /** Hands on, in order, the ranges of rows that meet all conditions. */
    public static void forEach(Sketch sketch, List<Condition> conditions, Certainty certainty, Range to) {
        List<Integer> asked = new ArrayList<>();
        Filter filter = new Filter(sketch, conditions, asked);
        int[] features = asked.stream().mapToInt(Integer::intValue).toArray();
        TimeParts times = new TimeParts(sketch.times(), sketch.timeErrorTicks());
        times.each(0, sketch.rows(), filter.times(), (first, last, truths) -> {
            RunMerger merger = new RunMerger(sketch, features, first, last);
            int from = first;
            while (merger.next()) {
                if ((filter.verdict(merger.ranks(), truths) & certainty.bit()) != 0) {
                    to.accept(from, from + merger.length());
                }
                from += merger.length();
            }
        });
    }

    /** The value of a rank: a Double, Long, Boolean or String; empty for NULL. */
    public static Optional<Object> value(Sketch sketch, int feature, int rank) {
        return Values.of(sketch, feature, rank);
    }
}
