package dev.millrace.sketch.query;

/** The rows with NaN and the infinities, and what they make of a sum over all rows. Not thread-safe. */
final class Specials {
    private static final RowCounts NONE = new RowCounts();

    // None, until a value comes that is no finite one.
    private RowCounts nan = NONE;
    private RowCounts positive = NONE;
    private RowCounts negative = NONE;

    /** Takes a value, if it is no finite one. */
    boolean take(double value, int verdict, long weight) {
        if (Double.isFinite(value)) {
            return false;
        }
        makeRoom();
        (Double.isNaN(value) ? nan : value > 0 ? positive : negative).add(verdict, weight);
        return true;
    }

    private void makeRoom() {
        if (nan == NONE) {
            nan = new RowCounts();
            positive = new RowCounts();
            negative = new RowCounts();
        }
    }

    void add(Specials other) {
        if (other.nan == NONE) {
            return;
        }
        makeRoom();
        nan.add(other.nan);
        positive.add(other.positive);
        negative.add(other.negative);
    }

    boolean seen() {
        return nan.seen + positive.seen + negative.seen > 0;
    }

    boolean certain() {
        return nan.certain + positive.certain + negative.certain > 0;
    }

    void addTo(RowCounts all) {
        all.add(nan);
        all.add(positive);
        all.add(negative);
    }

    boolean any() {
        return nan.possible + positive.possible + negative.possible > 0;
    }

    /** An estimate of a sum or average of all rows, given that of the finite ones. */
    Estimate with(double finiteValue, double finiteLow, double finiteHigh, RowCounts finite) {
        if (!any()) {
            return Estimate.of(finiteValue, finiteLow, finiteHigh, finite.presence());
        }
        RowCounts all = new RowCounts();
        all.add(finite);
        addTo(all);
        double value = nan.seen > 0 || positive.seen > 0 && negative.seen > 0
                ? Double.NaN
                : positive.seen > 0
                        ? Double.POSITIVE_INFINITY
                        : negative.seen > 0 ? Double.NEGATIVE_INFINITY : finiteValue;
        boolean isNaN = nan.certain > 0 || positive.certain > 0 && negative.certain > 0;
        boolean mayBeNaN = nan.possible > 0 || positive.possible > 0 && negative.possible > 0;
        boolean mayBePositive = !isNaN && positive.possible > 0 && negative.certain == 0;
        boolean mayBeNegative = !isNaN && negative.possible > 0 && positive.certain == 0;
        boolean mayBeFinite = !isNaN && positive.certain == 0 && negative.certain == 0 && finite.possible > 0;
        double low = mayBeNegative
                ? Double.NEGATIVE_INFINITY
                : mayBeFinite ? finiteLow : mayBePositive ? Double.POSITIVE_INFINITY : Double.NaN;
        double high = mayBeNaN
                ? Double.NaN
                : mayBePositive ? Double.POSITIVE_INFINITY : mayBeFinite ? finiteHigh : Double.NEGATIVE_INFINITY;
        return Estimate.of(value, low, high, all.presence());
    }
}
