package dev.millrace.sketch.query;

/** How many rows take part: in the sketch, for certain, and at most. Not thread-safe. */
final class RowCounts {
    long seen;
    long certain;
    long possible;

    void add(int verdict, long weight) {
        seen += (verdict & Condition.SEEN) != 0 ? weight : 0;
        certain += (verdict & Condition.CERTAIN) != 0 ? weight : 0;
        possible += (verdict & Condition.POSSIBLE) != 0 ? weight : 0;
    }

    void add(RowCounts other) {
        seen += other.seen;
        certain += other.certain;
        possible += other.possible;
    }

    Estimate count() {
        return Estimate.count(seen, certain, possible);
    }

    Estimate.Presence presence() {
        return certain > 0
                ? Estimate.Presence.CERTAIN
                : seen > 0
                        ? Estimate.Presence.SEEN
                        : possible > 0 ? Estimate.Presence.POSSIBLE : Estimate.Presence.NONE;
    }
}
