package dev.millrace.sketch.query;

/**
 * What an aggregate needs to know of the rows it has seen, in less room than they have: of cells of any number of segments, and
 * combined with that of others. Certain rows take part whatever the errors are; the others may or may not, and each value lies
 * anywhere within its error: the bounds are those of the worst choice. Not thread-safe.
 */
interface Partial {
    /** Without any row. */
    static Partial of(Aggregate aggregate, boolean whole, boolean text) {
        return switch (aggregate.function()) {
            case COUNT -> new CountPartial();
            case SUM -> whole ? new WholeSumPartial() : new SumPartial();
            case AVG -> new AveragePartial(whole);
            case MIN -> new ExtremePartial(whole, -1);
            case MAX -> new ExtremePartial(whole, 1);
            case VARIANCE -> new VariancePartial(whole);
            case PERCENTILE -> new PercentilePartial(whole, aggregate.fraction());
            case DISTINCT -> text ? new DistinctTextPartial() : new DistinctPartial(whole);
        };
    }

    /** Takes the cells of a group, of which {@code values} says what they are worth. */
    void add(Cells cells, CellValues values);

    /** Takes what another of the same kind has seen. */
    void combine(Partial other);

    Estimate estimate();
}
