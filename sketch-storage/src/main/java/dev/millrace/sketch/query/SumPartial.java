package dev.millrace.sketch.query;

import dev.millrace.sketch.sum.Sum;

/** SUM of doubles. */
final class SumPartial implements Partial {
    private final RowCounts rows = new RowCounts();
    private final Specials specials = new Specials();
    private final Sum seen = new Sum();
    private final Sum low = new Sum();
    private final Sum high = new Sum();

    @Override
    public void add(Cells cells, CellValues values) {
        for (int i = 0; i < cells.count; i++) {
            int rank = values.rank(cells, i);
            if (values.isNull(rank)) {
                continue;
            }
            int verdict = cells.verdicts[i];
            int weight = cells.weights[i];
            double value = values.points().value(rank);
            if (specials.take(value, verdict, weight)) {
                continue;
            }
            rows.add(verdict, weight);
            double error = values.points().error(rank);
            if ((verdict & Condition.SEEN) != 0) {
                seen.add(value, weight);
            }
            boolean certain = (verdict & Condition.CERTAIN) != 0;
            if (certain || value < error) {
                low.add(value, weight);
                low.add(-error, weight);
            }
            if (certain || -value < error) {
                high.add(value, weight);
                high.add(error, weight);
            }
        }
    }

    @Override
    public void combine(Partial other) {
        SumPartial that = (SumPartial) other;
        rows.add(that.rows);
        specials.add(that.specials);
        seen.add(that.seen);
        low.add(that.low);
        high.add(that.high);
    }

    @Override
    public Estimate estimate() {
        return specials.with(seen.value(), low.atLeast(), high.atMost(), rows);
    }
}
