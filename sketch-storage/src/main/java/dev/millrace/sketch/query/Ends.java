package dev.millrace.sketch.query;

import java.util.Map;
import java.util.TreeMap;

/**
 * How far the values of rows reach that may or may not take part, in one direction, and how many there are. Of more than some
 * thousands, neighbours are taken to reach as far as the further one. Not thread-safe.
 */
final class Ends {
    private static final int MOST = 4096;

    private final int direction; // 1 upward, -1 downward
    private final TreeMap<Double, Long> rows = new TreeMap<>();

    Ends(int direction) {
        this.direction = direction;
    }

    void add(double end, long weight) {
        rows.merge(end, weight, Long::sum);
        if (rows.size() > MOST) {
            coarsen();
        }
    }

    void add(Ends other) {
        other.rows.forEach(this::add);
    }

    private void coarsen() {
        TreeMap<Double, Long> coarse = new TreeMap<>();
        long weight = 0;
        int at = 0;
        for (Map.Entry<Double, Long> entry : (direction > 0 ? rows : rows.descendingMap()).entrySet()) {
            weight += entry.getValue();
            if (++at % 2 == 0 || at == rows.size()) {
                coarse.put(entry.getKey(), weight); // the further one of the two
                weight = 0;
            }
        }
        rows.clear();
        rows.putAll(coarse);
    }

    /**
     * The furthest that the average may be: takes values from the furthest on, as long as they move it further.
     *
     * @param sum of the rows that do take part, rounded in this direction
     * @param count of them
     */
    double worst(double sum, long count) {
        double total = sum;
        long taken = count;
        for (Map.Entry<Double, Long> entry : (direction > 0 ? rows.descendingMap() : rows).entrySet()) {
            if (taken > 0 && direction * (entry.getKey() - total / taken) <= 0) {
                break;
            }
            long weight = taken == 0 ? 1 : entry.getValue();
            total = further(total + further(entry.getKey() * weight));
            taken += weight;
        }
        // What was left out for the rounding of a quotient would have moved it by less than this.
        return further(further(further(total / taken)));
    }

    private double further(double value) {
        return direction > 0 ? Math.nextUp(value) : Math.nextDown(value);
    }
}
