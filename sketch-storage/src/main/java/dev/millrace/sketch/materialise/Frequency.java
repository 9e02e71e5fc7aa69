package dev.millrace.sketch.materialise;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.query.RowVerdicts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rows of the most or least frequent combinations of values. Stateless. */
final class Frequency {
    private Frequency() {}

    private record Combination(int[] values) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Combination that && Arrays.equals(values, that.values);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(values);
        }
    }

    /** Rows by combination; combinations of equal frequency in the order in which they first occur. */
    static int[] rows(Sketch sketch, int k, boolean most) {
        Map<Combination, List<int[]>> ranges = new LinkedHashMap<>(); // first row and the one behind the last
        int features = sketch.schema().size();
        int[][] first = new int[features][];
        int[][] ranks = new int[features][];
        for (int f = 0; f < features; f++) {
            first[f] = first(sketch, f);
            ranks[f] = sketch.column(f).sequence().ranks();
        }
        int[] last = {};
        int from = 0;
        for (int row = 0; row <= sketch.rows(); row++) {
            int[] values = new int[row == sketch.rows() ? 0 : features];
            for (int f = 0; f < values.length; f++) {
                values[f] = first[f][ranks[f][row]];
            }
            if (row > 0 && !Arrays.equals(values, last)) {
                ranges.computeIfAbsent(new Combination(last), key -> new ArrayList<>())
                        .add(new int[] {from, row});
                from = row;
            }
            last = values;
        }
        List<List<int[]>> ordered = new ArrayList<>(ranges.values());
        ordered.sort((a, b) -> most ? Long.compare(count(b), count(a)) : Long.compare(count(a), count(b)));
        return ordered.stream()
                .limit(k)
                .flatMap(List::stream)
                .flatMapToInt(range -> java.util.stream.IntStream.range(range[0], range[1]))
                .toArray();
    }

    private static long count(List<int[]> ranges) {
        return ranges.stream().mapToLong(range -> range[1] - range[0]).sum();
    }

    /** By rank the first one of the same value, of which there may be several. */
    private static int[] first(Sketch sketch, int feature) {
        int[] table = new int[sketch.column(feature).symbols().size() + 1];
        Map<Optional<Object>, Integer> known = new HashMap<>();
        for (int rank = 0; rank < table.length; rank++) {
            Integer first = known.putIfAbsent(RowVerdicts.value(sketch, feature, rank), rank);
            table[rank] = first == null ? rank : first;
        }
        return table;
    }
}
