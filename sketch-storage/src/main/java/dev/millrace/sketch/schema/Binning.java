package dev.millrace.sketch.schema;

/** Which bins a numeric feature's values fall into. Every choice keeps the bound. */
public enum Binning {
    /** Bins of width twice the bound, overlapping or not: per segment whichever is smaller. */
    SMALLEST,
    /** Bins of width twice the bound, side by side: equal values always fall into the same bin. */
    EQUAL_WIDTH,
    /** Bins of width twice the bound that overlap: a value stays in the bin of the one before while that is within the bound. */
    OVERLAPPING,
    /** The paper's: equally likely bins from an online estimate of the density, with a bin injected where one is too wide. */
    EQUAL_PROBABILITY
}
