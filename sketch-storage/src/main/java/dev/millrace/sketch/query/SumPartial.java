package dev.millrace.sketch.query;

import dev.millrace.sketch.sum.Sum;

/** SUM of doubles. */
final class SumPartial implements Partial {
    private final RowCounts rows = new RowCounts();
    private final Specials specials = new Specials();
    private final Sum certain = new Sum();
    private final Sum errors = new Sum(); // of certain rows
    private final Sum seen = new Sum(); // of rows that are seen and not certain
    private final Sum lows = new Sum(); // of rows that are possible and not certain, where they lower the sum
    private final Sum highs = new Sum();

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
            if ((verdict & Condition.CERTAIN) != 0) {
                certain.add(value, weight);
                errors.add(error, weight);
                continue;
            }
            if ((verdict & Condition.SEEN) != 0) {
                seen.add(value, weight);
            }
            if (value < error) {
                lows.add(value, weight);
                lows.add(-error, weight);
            }
            if (-value < error) {
                highs.add(value, weight);
                highs.add(error, weight);
            }
        }
    }

    @Override
    public void combine(Partial other) {
        SumPartial that = (SumPartial) other;
        rows.add(that.rows);
        specials.add(that.specials);
        certain.add(that.certain);
        errors.add(that.errors);
        seen.add(that.seen);
        lows.add(that.lows);
        highs.add(that.highs);
    }

    @Override
    public Estimate estimate() {
        Sum value = new Sum();
        value.add(certain);
        value.add(seen);
        Sum low = new Sum();
        low.add(certain);
        low.add(lows);
        low.subtract(errors);
        Sum high = new Sum();
        high.add(certain);
        high.add(highs);
        high.add(errors);
        return specials.with(value.value(), low.atLeast(), high.atMost(), rows);
    }
}
