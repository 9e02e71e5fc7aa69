package dev.millrace.sketch.query;

import java.util.Map;
import java.util.TreeMap;

/**
 * PERCENTILE: the smallest value that at least a fraction of the values do not exceed. Keeps how often each value occurs: as
 * seen, at its lowest and at its highest. Of more than some ten thousand different ones, neighbours are put together outward,
 * so the bounds hold and become wider. Not thread-safe.
 */
final class PercentilePartial implements Partial {
    private static final int MOST = 1 << 16;

    private final boolean whole;
    private final double fraction;
    private final RowCounts rows = new RowCounts();
    private TreeMap<Long, RowCounts> values = new TreeMap<>();
    private TreeMap<Long, RowCounts> lows = new TreeMap<>();
    private TreeMap<Long, RowCounts> highs = new TreeMap<>();

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
                at(values, points.key(rank)).add(verdict, weight);
                at(lows, points.low(rank)).add(verdict, weight);
                at(highs, points.high(rank)).add(verdict, weight);
            }
        }
        bound();
    }

    private static RowCounts at(TreeMap<Long, RowCounts> counts, long key) {
        return counts.computeIfAbsent(key, k -> new RowCounts());
    }

    private void bound() {
        values = bounded(values, false);
        lows = bounded(lows, false);
        highs = bounded(highs, true);
    }

    /** Puts neighbours together at the lower, or upward at the higher. */
    private static TreeMap<Long, RowCounts> bounded(TreeMap<Long, RowCounts> counts, boolean upward) {
        if (counts.size() <= MOST) {
            return counts;
        }
        TreeMap<Long, RowCounts> fewer = new TreeMap<>();
        long key = 0;
        RowCounts open = new RowCounts();
        int taken = 0;
        for (Map.Entry<Long, RowCounts> entry : (upward ? counts.descendingMap() : counts).entrySet()) {
            if (taken++ % 2 == 0) {
                key = entry.getKey();
                open = entry.getValue();
                fewer.put(key, open);
            } else {
                open.add(entry.getValue());
            }
        }
        return fewer;
    }

    @Override
    public void combine(Partial other) {
        PercentilePartial that = (PercentilePartial) other;
        rows.add(that.rows);
        that.values.forEach((key, counts) -> at(values, key).add(counts));
        that.lows.forEach((key, counts) -> at(lows, key).add(counts));
        that.highs.forEach((key, counts) -> at(highs, key).add(counts));
        bound();
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
        for (Map.Entry<Long, RowCounts> entry : values.entrySet()) {
            below += entry.getValue().seen;
            if (below > 0 && below >= fraction * rows.seen) {
                return entry.getKey();
            }
        }
        return values.lastKey();
    }

    /** Lowest when every uncertain value below takes part and none above. */
    private long lowest() {
        long certain = 0;
        long possible = 0;
        for (Map.Entry<Long, RowCounts> entry : lows.entrySet()) {
            certain += entry.getValue().certain;
            possible += entry.getValue().possible;
            if (possible > 0 && possible >= fraction * (rows.certain + possible - certain)) {
                return entry.getKey();
            }
        }
        return lows.firstKey();
    }

    /** Highest when every uncertain value above takes part and none below. */
    private long highest() {
        long certain = 0;
        long possible = 0;
        for (Map.Entry<Long, RowCounts> entry : highs.entrySet()) {
            certain += entry.getValue().certain;
            possible += entry.getValue().possible;
            long uncertainAbove = rows.possible - rows.certain - (possible - certain);
            if (certain > 0 && certain >= fraction * (rows.certain + uncertainAbove)) {
                return entry.getKey();
            }
        }
        return highs.lastKey();
    }
}
