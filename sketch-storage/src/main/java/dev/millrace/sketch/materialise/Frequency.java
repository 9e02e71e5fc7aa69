package dev.millrace.sketch.materialise;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The rows of the most or least frequent combinations of values. Stateless. */
final class Frequency {
    private Frequency() {}

    private record Combination(long[] values) {
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
        long[] last = {};
        int from = 0;
        for (int row = 0; row <= sketch.rows(); row++) {
            long[] values = row == sketch.rows() ? new long[0] : values(sketch, row);
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

    private static long[] values(Sketch sketch, int row) {
        long[] values = new long[sketch.schema().size()];
        for (int f = 0; f < values.length; f++) {
            Column column = sketch.column(f);
            int rank = column.sequence().ranks()[row];
            // Where every row has a symbol of its own it is the value that counts.
            values[f] = column.symbols() instanceof NumberSymbols numbers && rank < numbers.size()
                    ? Double.doubleToLongBits(numbers.value(rank))
                    : rank - (1L << 62);
        }
        return values;
    }
}
