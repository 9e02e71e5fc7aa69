package dev.millrace.sketch.query;

/** MIN and MAX. */
final class ExtremePartial implements Partial {
    private final boolean whole;
    private final int direction; // 1 for MAX
    private final RowCounts rows = new RowCounts();
    private long seen;
    private long outer; // over all possible values
    private long inner; // over certain ones
    private long loosest; // the least extreme that may be left alone

    ExtremePartial(boolean whole, int direction) {
        this.whole = whole;
        this.direction = direction;
    }

    @Override
    public void add(Cells cells, CellValues values) {
        Points points = values.points();
        for (int i = 0; i < cells.count; i++) {
            int rank = values.rank(cells, i);
            if (!values.isNull(rank)) {
                long near = direction > 0 ? points.low(rank) : points.high(rank);
                long far = direction > 0 ? points.high(rank) : points.low(rank);
                int verdict = cells.verdicts[i];
                take(verdict, cells.weights[i], points.key(rank), near, far, near);
            }
        }
    }

    private void take(int verdict, long weight, long value, long near, long far, long alone) {
        if ((verdict & Condition.SEEN) != 0) {
            seen = rows.seen == 0 ? value : further(seen, value, direction);
        }
        if ((verdict & Condition.CERTAIN) != 0) {
            inner = rows.certain == 0 ? near : further(inner, near, direction);
        }
        if ((verdict & Condition.POSSIBLE) != 0) {
            outer = rows.possible == 0 ? far : further(outer, far, direction);
            loosest = rows.possible == 0 ? alone : further(loosest, alone, -direction);
        }
        rows.add(verdict, weight);
    }

    private static long further(long best, long value, int direction) {
        return direction > 0 ? Math.max(best, value) : Math.min(best, value);
    }

    @Override
    public void combine(Partial other) {
        ExtremePartial that = (ExtremePartial) other;
        int verdict = (that.rows.seen > 0 ? Condition.SEEN : 0)
                | (that.rows.certain > 0 ? Condition.CERTAIN : 0)
                | (that.rows.possible > 0 ? Condition.POSSIBLE : 0);
        take(verdict, 1, that.seen, that.inner, that.outer, that.loosest);
    }

    @Override
    public Estimate estimate() {
        long near = rows.certain > 0 ? inner : loosest;
        long low = direction > 0 ? near : outer;
        long high = direction > 0 ? outer : near;
        return Estimate.of(
                Points.near(seen, whole),
                Points.doubleBelow(low, whole),
                Points.doubleAbove(high, whole),
                rows.presence());
    }
}
