package dev.millrace.sketch.query;

import dev.millrace.sketch.sum.Sum;

/** AVG. */
final class AveragePartial implements Partial {
    private final boolean whole;
    private final RowCounts rows = new RowCounts();
    private final Specials specials = new Specials();
    private final Sum seen = new Sum(); // of rows that are seen and not certain
    private final Sum certain = new Sum();
    private final Sum errors = new Sum(); // of certain rows
    private final Ends lows = new Ends(-1); // of uncertain rows
    private final Ends highs = new Ends(1);

    AveragePartial(boolean whole) {
        this.whole = whole;
    }

    @Override
    public void add(Cells cells, CellValues values) {
        Points points = values.points();
        for (int i = 0; i < cells.count; i++) {
            int rank = values.rank(cells, i);
            if (values.isNull(rank)) {
                continue;
            }
            int verdict = cells.verdicts[i];
            int weight = cells.weights[i];
            if (specials.take(points.value(rank), verdict, weight)) {
                continue;
            }
            rows.add(verdict, weight);
            if ((verdict & Condition.CERTAIN) != 0) {
                add(certain, points, rank, weight);
                errors.add(points.error(rank), weight);
                continue;
            }
            if ((verdict & Condition.SEEN) != 0) {
                add(seen, points, rank, weight);
            }
            if ((verdict & Condition.POSSIBLE) != 0) {
                lows.add(Points.doubleBelow(points.low(rank), whole), weight);
                highs.add(Points.doubleAbove(points.high(rank), whole), weight);
            }
        }
    }

    private void add(Sum sum, Points points, int rank, int weight) {
        if (whole) {
            sum.addWhole(points.key(rank), weight);
        } else {
            sum.add(points.value(rank), weight);
        }
    }

    @Override
    public void combine(Partial other) {
        AveragePartial that = (AveragePartial) other;
        rows.add(that.rows);
        specials.add(that.specials);
        seen.add(that.seen);
        certain.add(that.certain);
        errors.add(that.errors);
        lows.add(that.lows);
        highs.add(that.highs);
    }

    @Override
    public Estimate estimate() {
        if (rows.possible == 0) {
            return specials.with(Double.NaN, Double.NaN, Double.NaN, rows);
        }
        double low = lows.worst(Math.nextDown(certain.atLeast() - errors.atMost()), rows.certain);
        double high = highs.worst(Math.nextUp(certain.atMost() + errors.atMost()), rows.certain);
        Sum value = new Sum();
        value.add(certain);
        value.add(seen);
        return specials.with(value.value() / rows.seen, low, high, rows);
    }

    /**
     * How far the values of rows reach that may or may not take part, in one direction, and how many there are. Of more than some
     * thousands, neighbours are taken to reach as far as the further one. Not thread-safe.
     */
    private static final class Ends {
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
}
