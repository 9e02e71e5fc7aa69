package dev.millrace.connectors.nexmark;

/** The three kinds of events and their places in each group of 50. The n-th event of a kind has ordinal n, from 0. */
enum Kind {
    PERSON(0, 1),
    AUCTION(1, 3),
    BID(4, 46);

    /** Events in a group. */
    static final int GROUP = 50;

    private final int firstInGroup;
    private final int perGroup;

    Kind(int firstInGroup, int perGroup) {
        this.firstInGroup = firstInGroup;
        this.perGroup = perGroup;
    }

    int perGroup() {
        return perGroup;
    }

    /** The number of an event by its ordinal. */
    long event(long ordinal) {
        return ordinal / perGroup * GROUP + firstInGroup + ordinal % perGroup;
    }

    /** How many of the first {@code events} events are of this kind. */
    long countOf(long events) {
        long rest = Math.max(0, Math.min(perGroup, events % GROUP - firstInGroup));
        return events / GROUP * perGroup + rest;
    }
}
