package dev.millrace.sketch.query;

/**
 * How far the values of rows reach that may or may not take part, in one direction, and how many there are. Of more than some
 * thousands, neighbours are taken to reach as far as the further one. Not thread-safe.
 */
final class Ends {
    private static final int MOST = 4096;

    private final int direction; // 1 upward, -1 downward
    private final Tally rows;

    Ends(int direction) {
        this.direction = direction;
        this.rows = new Tally(1, MOST, direction > 0);
    }

    void add(double end, long weight) {
        rows.add(Points.key(end), weight);
    }

    void add(Ends other) {
        rows.add(other.rows);
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
        int size = rows.sortedSize();
        for (int n = 0; n < size; n++) {
            int at = direction > 0 ? size - 1 - n : n;
            double end = Points.value(rows.key(at));
            if (taken > 0 && direction * (end - total / taken) <= 0) {
                break;
            }
            long weight = taken == 0 ? 1 : rows.count(at, 0);
            total = further(total + further(end * weight));
            taken += weight;
        }
        // What was left out for the rounding of a quotient would have moved it by less than this.
        return further(further(further(total / taken)));
    }

    private double further(double value) {
        return direction > 0 ? Math.nextUp(value) : Math.nextDown(value);
    }
}
