package dev.millrace.sketch.query;

import dev.millrace.sketch.sum.WholeSum;

/** SUM of whole numbers, in whole numbers. */
final class WholeSumPartial implements Partial {
    private final RowCounts rows = new RowCounts();
    private final WholeSum seen = new WholeSum();
    private final WholeSum low = new WholeSum();
    private final WholeSum high = new WholeSum();

    @Override
    public void add(Cells cells, CellValues values) {
        for (int i = 0; i < cells.count; i++) {
            int rank = values.rank(cells, i);
            if (values.isNull(rank)) {
                continue;
            }
            int verdict = cells.verdicts[i];
            long weight = cells.weights[i];
            rows.add(verdict, weight);
            long value = values.points().key(rank);
            long error = values.points().wholeError(rank);
            if ((verdict & Condition.SEEN) != 0) {
                seen.add(value, weight);
            }
            boolean certain = (verdict & Condition.CERTAIN) != 0;
            if (certain || value < 0 || value < error) {
                low.add(value, weight);
                low.add(-error, weight);
            }
            if (certain || value > 0 || -value < error) {
                high.add(value, weight);
                high.add(error, weight);
            }
        }
    }

    @Override
    public void combine(Partial other) {
        WholeSumPartial that = (WholeSumPartial) other;
        rows.add(that.rows);
        seen.add(that.seen);
        low.add(that.low);
        high.add(that.high);
    }

    @Override
    public Estimate estimate() {
        return Estimate.of(seen.value(), low.atLeast(), high.atMost(), rows.presence());
    }
}
