package dev.millrace.sketch.query;

/** Which rows an operation keeps where their values lie so near a condition's limit that their errors matter. */
public enum Certainty {
    /** Those whose values in the sketch meet it. */
    SEEN(Condition.SEEN),
    /** Those that meet it for certain: no more than the true ones. */
    CERTAIN(Condition.CERTAIN),
    /** Those that may meet it: no fewer than the true ones. */
    POSSIBLE(Condition.POSSIBLE);

    private final int bit;

    Certainty(int bit) {
        this.bit = bit;
    }

    int bit() {
        return bit;
    }
}
