package dev.millrace.sketch.materialise;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.query.RowVerdicts;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** The rows of the most or least frequent combinations of values. Stateless. */
final class Frequency {
    private Frequency() {}

    /** Rows by combination; combinations of equal frequency in the order in which they first occur. */
    static int[] rows(Sketch sketch, int k, boolean most) {
        int[] combinations = new int[sketch.rows()];
        int count = Math.min(sketch.rows(), 1);
        for (int f = 0; f < sketch.schema().size(); f++) {
            count = tellApart(
                    combinations, first(sketch, f), sketch.column(f).sequence().ranks());
        }
        int[] sizes = new int[count];
        for (int combination : combinations) {
            sizes[combination]++;
        }
        int[] chosen = IntStream.range(0, count)
                .boxed()
                .sorted((a, b) -> most ? Integer.compare(sizes[b], sizes[a]) : Integer.compare(sizes[a], sizes[b]))
                .limit(k)
                .mapToInt(Integer::intValue)
                .toArray();
        return rowsOf(combinations, sizes, chosen);
    }

    /** Rows by combination, in the order of these. */
    private static int[] rowsOf(int[] combinations, int[] sizes, int[] chosen) {
        int[] next = new int[sizes.length]; // where the next row of a combination has its place
        Arrays.fill(next, -1);
        int rows = 0;
        for (int combination : chosen) {
            next[combination] = rows;
            rows += sizes[combination];
        }
        int[] found = new int[rows];
        for (int row = 0; row < combinations.length; row++) {
            if (next[combinations[row]] >= 0) {
                found[next[combinations[row]]++] = row;
            }
        }
        return found;
    }

    /**
     * Makes of what rows are told apart by what they are told apart by with one feature more: numbers from 0 on, in the order in which they first
     * occur.
     *
     * @return how many there are
     */
    private static int tellApart(int[] combinations, int[] first, int[] ranks) {
        Map<Long, Integer> numbers = new HashMap<>();
        long last = -1;
        int number = 0;
        for (int row = 0; row < combinations.length; row++) {
            long pair = (long) combinations[row] << Integer.SIZE | first[ranks[row]];
            if (pair != last) { // most rows are as the one before
                last = pair;
                Integer known = numbers.putIfAbsent(pair, numbers.size());
                number = known == null ? numbers.size() - 1 : known;
            }
            combinations[row] = number;
        }
        return numbers.size();
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
