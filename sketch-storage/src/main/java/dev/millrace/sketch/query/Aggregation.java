package dev.millrace.sketch.query;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Computes aggregates over cells, with their bounds. Certain rows take part whatever the errors are; the others may or may
 * not, and each value lies anywhere within its error: the bounds are those of the worst choice.
 */
final class Aggregation {
    private static final double ULP = 0x1p-52;

    private final Cells cells;
    private final int position; // of the feature among a cell's ranks
    private final Column column;
    private final double[] values;

    Aggregation(Cells cells, int position, Column column) {
        this.cells = cells;
        this.position = position;
        this.column = column;
        this.values = column.symbols() instanceof NumberSymbols numbers ? numbers.values() : new double[0];
    }

    static Estimate rows(Cells cells) {
        long seen = 0;
        long certain = 0;
        long possible = 0;
        for (int i = 0; i < cells.count; i++) {
            int verdict = cells.verdicts[i];
            int weight = cells.weights[i];
            seen += (verdict & Condition.SEEN) != 0 ? weight : 0;
            certain += (verdict & Condition.CERTAIN) != 0 ? weight : 0;
            possible += (verdict & Condition.POSSIBLE) != 0 ? weight : 0;
        }
        return Estimate.of(seen, certain, possible);
    }

    Estimate compute(Aggregate aggregate) {
        return switch (aggregate.function()) {
            case COUNT -> count();
            case SUM -> sum();
            case AVG -> average();
            case MIN -> extreme(-1);
            case MAX -> extreme(1);
            case VARIANCE -> variance();
            case PERCENTILE -> percentile(aggregate.fraction());
            case DISTINCT -> distinct();
        };
    }

    private int rank(int cell) {
        return cells.rank(cell, position);
    }

    private boolean isNull(int cell) {
        return rank(cell) == column.symbols().size();
    }

    private double error(int cell) {
        return column.numbers().error(rank(cell));
    }

    private boolean is(int cell, int bit) {
        return (cells.verdicts[cell] & bit) != 0;
    }

    private Estimate count() {
        long seen = 0;
        long certain = 0;
        long possible = 0;
        for (int i = 0; i < cells.count; i++) {
            if (!isNull(i)) {
                int weight = cells.weights[i];
                seen += is(i, Condition.SEEN) ? weight : 0;
                certain += is(i, Condition.CERTAIN) ? weight : 0;
                possible += is(i, Condition.POSSIBLE) ? weight : 0;
            }
        }
        return Estimate.of(seen, certain, possible);
    }

    private Estimate sum() {
        double seen = 0;
        double low = 0;
        double high = 0;
        double size = 0;
        long rows = 0;
        for (int i = 0; i < cells.count; i++) {
            if (isNull(i)) {
                continue;
            }
            double value = values[rank(i)];
            double error = error(i);
            int weight = cells.weights[i];
            if (is(i, Condition.SEEN)) {
                seen += value * weight;
                rows += weight;
            }
            if (is(i, Condition.CERTAIN)) {
                low += (value - error) * weight;
                high += (value + error) * weight;
            } else {
                low += Math.min(0, (value - error) * weight);
                high += Math.max(0, (value + error) * weight);
            }
            size += (Math.abs(value) + error) * weight;
        }
        double slack = isWhole() && size < 0x1p52 ? 0 : size * ULP * (cells.count + 4);
        return rows == 0 && low == 0 && high == 0 ? Estimate.NONE : Estimate.of(seen, low - slack, high + slack);
    }

    private boolean isWhole() {
        return column.numbers().scale() instanceof dev.millrace.sketch.bins.Scale.Whole;
    }

    private Estimate average() {
        double seen = 0;
        long rows = 0;
        double certain = 0;
        double error = 0;
        long certainRows = 0;
        for (int i = 0; i < cells.count; i++) {
            if (!isNull(i)) {
                int weight = cells.weights[i];
                if (is(i, Condition.SEEN)) {
                    seen += values[rank(i)] * weight;
                    rows += weight;
                }
                if (is(i, Condition.CERTAIN)) {
                    certain += values[rank(i)] * weight;
                    error += error(i) * weight;
                    certainRows += weight;
                }
            }
        }
        if (rows == 0) {
            return Estimate.NONE;
        }
        double low = worstAverage(certain - error, certainRows, -1);
        double high = worstAverage(certain + error, certainRows, 1);
        double slack = (Math.abs(low) + Math.abs(high)) * ULP * (cells.count + 4);
        return Estimate.of(seen / rows, low - slack, high + slack);
    }

    /** Adds uncertain values from the most extreme one on, as long as they move the average further that way. */
    private double worstAverage(double sum, long rows, int direction) {
        int[] uncertain = IntStream.range(0, cells.count)
                .filter(i -> !isNull(i) && is(i, Condition.POSSIBLE) && !is(i, Condition.CERTAIN))
                .toArray();
        if (uncertain.length == 0) {
            return sum / rows;
        }
        double[] ends = new double[uncertain.length];
        Integer[] order = new Integer[uncertain.length];
        for (int u = 0; u < uncertain.length; u++) {
            ends[u] = values[rank(uncertain[u])] + direction * error(uncertain[u]);
            order[u] = u;
        }
        Arrays.sort(order, (a, b) -> direction * Double.compare(ends[b], ends[a]));
        double total = sum;
        long count = rows;
        for (int u : order) {
            if (count > 0 && direction * (ends[u] - total / count) <= 0) {
                break;
            }
            int weight = count == 0 ? 1 : cells.weights[uncertain[u]];
            total += ends[u] * weight;
            count += weight;
        }
        return total / count;
    }

    private Estimate extreme(int direction) {
        double seen = Double.NaN;
        double outer = Double.NaN; // over all possible values
        double inner = Double.NaN; // over certain ones
        double loosest = Double.NaN; // the least extreme that may be left alone
        for (int i = 0; i < cells.count; i++) {
            if (isNull(i)) {
                continue;
            }
            double value = values[rank(i)];
            double error = error(i);
            if (is(i, Condition.SEEN)) {
                seen = further(seen, value, direction);
            }
            if (is(i, Condition.CERTAIN)) {
                inner = further(inner, value - direction * error, direction);
            }
            if (is(i, Condition.POSSIBLE)) {
                outer = further(outer, value + direction * error, direction);
                loosest = further(loosest, value - direction * error, -direction);
            }
        }
        if (Double.isNaN(seen)) {
            return Estimate.NONE;
        }
        double near = Double.isNaN(inner) ? loosest : inner;
        double low = direction > 0 ? near : outer;
        double high = direction > 0 ? outer : near;
        return column.numbers().error() == 0
                ? Estimate.of(seen, low, high)
                : Estimate.of(seen, Math.nextDown(low), Math.nextUp(high));
    }

    private static double further(double best, double value, int direction) {
        return Double.isNaN(best) || direction * Double.compare(value, best) > 0 ? value : best;
    }

    private Estimate variance() {
        double[] seen = moments(Condition.SEEN);
        if (seen[0] == 0) {
            return Estimate.NONE;
        }
        double value = seen[2] / seen[0];
        double[] certain = moments(Condition.CERTAIN);
        double error = column.numbers().error();
        double possible = 0;
        double spread = certain[2];
        double lowest = Double.POSITIVE_INFINITY;
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < cells.count; i++) {
            if (!isNull(i) && is(i, Condition.POSSIBLE)) {
                double v = values[rank(i)];
                possible += cells.weights[i];
                lowest = Math.min(lowest, v - error);
                highest = Math.max(highest, v + error);
                if (!is(i, Condition.CERTAIN)) {
                    spread += (v - certain[1]) * (v - certain[1]) * cells.weights[i];
                }
            }
        }
        // The square root of the sum of squared deviations is a norm: errors move it by at most error * sqrt(rows).
        double low = Math.max(0, Math.sqrt(certain[2]) - error * Math.sqrt(certain[0]));
        double high = Math.sqrt(spread) + error * Math.sqrt(possible);
        double widest = (highest - lowest) * (highest - lowest) / 4; // Popoviciu
        double most = certain[0] > 0 ? Math.min(widest, high * high / certain[0]) : widest;
        double slack = (value + most) * ULP * (cells.count + 8) * 4;
        return Estimate.of(value, Math.max(0, low * low / Math.max(1, possible) - slack), most + slack);
    }

    /** Rows, mean, and sum of squared deviations. */
    private double[] moments(int bit) {
        double rows = 0;
        double sum = 0;
        for (int i = 0; i < cells.count; i++) {
            if (!isNull(i) && is(i, bit)) {
                rows += cells.weights[i];
                sum += values[rank(i)] * cells.weights[i];
            }
        }
        double mean = rows == 0 ? 0 : sum / rows;
        double squares = 0;
        for (int i = 0; i < cells.count; i++) {
            if (!isNull(i) && is(i, bit)) {
                double distance = values[rank(i)] - mean;
                squares += distance * distance * cells.weights[i];
            }
        }
        return new double[] {rows, mean, squares};
    }

    private int[] byValue() {
        return IntStream.range(0, cells.count)
                .filter(i -> !isNull(i))
                .boxed()
                .sorted((a, b) -> Double.compare(values[rank(a)], values[rank(b)]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Estimate percentile(double fraction) {
        int[] order = byValue();
        double seenRows = 0;
        double certainRows = 0;
        double possibleRows = 0;
        for (int i : order) {
            seenRows += is(i, Condition.SEEN) ? cells.weights[i] : 0;
            certainRows += is(i, Condition.CERTAIN) ? cells.weights[i] : 0;
            possibleRows += is(i, Condition.POSSIBLE) ? cells.weights[i] : 0;
        }
        if (seenRows == 0) {
            return Estimate.NONE;
        }
        double seen = Double.NaN;
        double low = Double.NaN;
        double high = Double.NaN;
        double seenBelow = 0;
        double certainBelow = 0;
        double possibleBelow = 0;
        for (int i : order) {
            double value = values[rank(i)];
            seenBelow += is(i, Condition.SEEN) ? cells.weights[i] : 0;
            certainBelow += is(i, Condition.CERTAIN) ? cells.weights[i] : 0;
            possibleBelow += is(i, Condition.POSSIBLE) ? cells.weights[i] : 0;
            if (Double.isNaN(seen) && seenBelow > 0 && seenBelow >= fraction * seenRows) {
                seen = value;
            }
            // Lowest when every uncertain value below takes part and none above; highest the other way round.
            double uncertainBelow = possibleBelow - certainBelow;
            if (Double.isNaN(low) && possibleBelow > 0 && possibleBelow >= fraction * (certainRows + uncertainBelow)) {
                low = value;
            }
            double uncertainAbove = possibleRows - certainRows - uncertainBelow;
            if (Double.isNaN(high) && certainBelow > 0 && certainBelow >= fraction * (certainRows + uncertainAbove)) {
                high = value;
            }
        }
        double error = column.numbers().error();
        if (Double.isNaN(high)) {
            high = values[rank(order[order.length - 1])];
        }
        if (Double.isNaN(low)) {
            low = values[rank(order[0])];
        }
        return error == 0
                ? Estimate.of(seen, low, high)
                : Estimate.of(seen, Math.nextDown(low - error), Math.nextUp(high + error));
    }

    private Estimate distinct() {
        if (values.length == 0) {
            return distinctTexts();
        }
        int[] order = byValue();
        int seen = 0;
        int certain = 0;
        long possible = 0;
        double lastSeen = Double.NaN;
        double lastPossible = Double.NaN;
        double covered = Double.NEGATIVE_INFINITY; // by the last certain one that was counted
        boolean any = false;
        for (int i : order) {
            double value = values[rank(i)];
            double error = error(i);
            if (is(i, Condition.SEEN) && Double.compare(value, lastSeen) != 0 | seen == 0) {
                seen++;
                lastSeen = value;
            }
            // Values may only be told apart for certain when their errors leave them apart.
            if (is(i, Condition.CERTAIN)
                    && (!any || value - error > covered || Double.isNaN(value) && !Double.isNaN(covered))) {
                certain++;
                covered = value + error;
                any = true;
            }
            if (is(i, Condition.POSSIBLE)) {
                if (error > 0) {
                    possible += cells.weights[i];
                } else if (possible == 0 || Double.compare(value, lastPossible) != 0) {
                    possible++;
                    lastPossible = value;
                }
            }
        }
        return Estimate.of(seen, certain, possible);
    }

    private Estimate distinctTexts() {
        byte[] found = new byte[column.symbols().size() + 1];
        for (int i = 0; i < cells.count; i++) {
            found[rank(i)] |= cells.verdicts[i];
        }
        int[] counts = new int[3];
        for (int rank = 0; rank < column.symbols().size(); rank++) {
            counts[0] += found[rank] >> 2 & 1;
            counts[1] += found[rank] & 1;
            counts[2] += found[rank] >> 1 & 1;
        }
        return Estimate.of(counts[0], counts[1], counts[2]);
    }
}
