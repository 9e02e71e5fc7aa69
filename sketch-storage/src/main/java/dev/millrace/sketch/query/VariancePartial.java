package dev.millrace.sketch.query;

import dev.millrace.sketch.sum.Moments;
import dev.millrace.sketch.sum.Sum;
import java.math.BigDecimal;

/** VARIANCE of the population. */
final class VariancePartial implements Partial {
    private final boolean whole;
    private final RowCounts rows = new RowCounts();
    private final Specials specials = new Specials();
    private final Moments seen = new Moments();
    private final Moments certain = new Moments();
    private final Moments uncertain = new Moments();
    private double anchor; // the first value, where there is one
    private double error; // the largest
    private double lowest = Double.POSITIVE_INFINITY; // that a possible value may be
    private double highest = Double.NEGATIVE_INFINITY;

    VariancePartial(boolean whole) {
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
            double value = points.value(rank);
            if (specials.take(value, verdict, weight)) {
                continue;
            }
            if (rows.possible == 0) {
                anchor = value;
            }
            rows.add(verdict, weight);
            double distance = value - anchor;
            double rest = rest(value, anchor, distance);
            if (whole) {
                rest += Sum.restOf(points.key(rank));
            }
            if ((verdict & Condition.SEEN) != 0) {
                seen.add(distance, rest, weight);
            }
            if ((verdict & Condition.CERTAIN) != 0) {
                certain.add(distance, rest, weight);
            } else if ((verdict & Condition.POSSIBLE) != 0) {
                uncertain.add(distance, rest, weight);
            }
            if ((verdict & Condition.POSSIBLE) != 0) {
                error = Math.max(error, points.error(rank));
                lowest = Math.min(lowest, Points.doubleBelow(points.low(rank), whole));
                highest = Math.max(highest, Points.doubleAbove(points.high(rank), whole));
            }
        }
    }

    /** What a difference left (Knuth's two-sum). */
    private static double rest(double value, double anchor, double distance) {
        double minus = distance - value;
        return value - (distance - minus) + (-anchor - minus);
    }

    @Override
    public void combine(Partial other) {
        VariancePartial that = (VariancePartial) other;
        specials.add(that.specials);
        if (that.rows.possible == 0) {
            return;
        }
        if (rows.possible == 0) {
            anchor = that.anchor;
        }
        rows.add(that.rows);
        BigDecimal distance = new BigDecimal(that.anchor).subtract(new BigDecimal(anchor));
        seen.add(that.seen, distance);
        certain.add(that.certain, distance);
        uncertain.add(that.uncertain, distance);
        error = Math.max(error, that.error);
        lowest = Math.min(lowest, that.lowest);
        highest = Math.max(highest, that.highest);
    }

    @Override
    public Estimate estimate() {
        RowCounts all = new RowCounts();
        all.add(rows);
        specials.addTo(all);
        if (specials.certain() || rows.possible == 0) {
            return Estimate.of(Double.NaN, Double.NaN, Double.NaN, all.presence());
        }
        double value = specials.seen() || rows.seen == 0 ? Double.NaN : squares(seen, seen.mean()) / rows.seen;
        // The square root of the sum of squared distances is a norm: errors move it by at most error * sqrt(rows).
        double most = Math.nextUp(highest - lowest) / 2;
        most = up(most * most); // Popoviciu
        double least = 0;
        if (rows.certain > 0 && !certain.isTooLarge() && !uncertain.isTooLarge()) {
            BigDecimal mean = certain.mean();
            double inside = squares(certain, mean);
            double room = certain.slack(inside);
            double low = down(Math.sqrt(Math.max(0, inside - room))) - up(error * Math.sqrt(rows.certain));
            least = low <= 0 ? 0 : down(low * low / rows.possible);
            double spread = inside + room;
            if (rows.possible > rows.certain) {
                double outside = squares(uncertain, mean);
                spread += outside + uncertain.slack(outside) + certain.slack(outside);
            }
            double high = up(Math.sqrt(spread)) + up(error * Math.sqrt(rows.possible));
            most = Math.min(most, up(high * high / rows.certain));
        }
        return Estimate.of(value, least, specials.any() ? Double.NaN : most, all.presence());
    }

    private static double squares(Moments moments, BigDecimal point) {
        return moments.isTooLarge() ? Double.POSITIVE_INFINITY : moments.around(point);
    }

    private static double up(double value) {
        return value * (1 + 0x1p-48) + Double.MIN_VALUE;
    }

    private static double down(double value) {
        return value * (1 - 0x1p-48);
    }
}
