package dev.millrace.sketch.query;

/**
 * PERCENTILE: the smallest value that at least a fraction of the values do not exceed. Keeps how often each value occurs: as
 * seen, at its lowest and at its highest. Of more than some ten thousand different ones, neighbours are put together outward,
 * so the bounds hold and become wider. Not thread-safe.
 */
final class PercentilePartial implements Partial {
    private static final int MOST = 1 << 16;
    private static final int SEEN = 0; // the measures of a tally
    private static final int CERTAIN = 1;
    private static final int POSSIBLE = 2;

    private final boolean whole;
    private final double fraction;
    private final RowCounts rows = new RowCounts();
    private final Tally values = new Tally(3, MOST, false);
    private final Tally lows = new Tally(3, MOST, false);
    private final Tally highs = new Tally(3, MOST, true);

    PercentilePartial(boolean whole, double fraction) {
        this.whole = whole;
        this.fraction = fraction;
    }

    @Override
    public void add(Cells cells, CellValues cellValues) {
        Points points = cellValues.points();
        for (int i = 0; i < cells.count; i++) {
            int rank = cellValues.rank(cells, i);
            if (!cellValues.isNull(rank)) {
                int verdict = cells.verdicts[i];
                int weight = cells.weights[i];
                rows.add(verdict, weight);
                values.add(points.key(rank), verdict, weight);
                lows.add(points.low(rank), verdict, weight);
                highs.add(points.high(rank), verdict, weight);
            }
        }
    }

    @Override
    public void combine(Partial other) {
        PercentilePartial that = (PercentilePartial) other;
        rows.add(that.rows);
        values.add(that.values);
        lows.add(that.lows);
        highs.add(that.highs);
    }

    @Override
    public Estimate estimate() {
        if (rows.possible == 0) {
            return Estimate.NONE;
        }
        return Estimate.of(
                Points.near(seen(), whole),
                Points.doubleBelow(lowest(), whole),
                Points.doubleAbove(highest(), whole),
                rows.presence());
    }

    private long seen() {
        long below = 0;
        int size = values.sortedSize();
        for (int i = 0; i < size; i++) {
            below += values.count(i, SEEN);
            if (below > 0 && below >= fraction * rows.seen) {
                return values.key(i);
            }
        }
        return values.key(size - 1);
    }

    /** Lowest when every uncertain value below takes part and none above. */
    private long lowest() {
        long certain = 0;
        long possible = 0;
        int size = lows.sortedSize();
        for (int i = 0; i < size; i++) {
            certain += lows.count(i, CERTAIN);
            possible += lows.count(i, POSSIBLE);
            if (possible > 0 && possible >= fraction * (rows.certain + possible - certain)) {
                return lows.key(i);
            }
        }
        return lows.key(0);
    }

    /** Highest when every uncertain value above takes part and none below. */
    private long highest() {
        long certain = 0;
        long possible = 0;
        int size = highs.sortedSize();
        for (int i = 0; i < size; i++) {
            certain += highs.count(i, CERTAIN);
            possible += highs.count(i, POSSIBLE);
            long uncertainAbove = rows.possible - rows.certain - (possible - certain);
            if (certain > 0 && certain >= fraction * (rows.certain + uncertainAbove)) {
                return highs.key(i);
            }
        }
        return highs.key(size - 1);
    }
}
