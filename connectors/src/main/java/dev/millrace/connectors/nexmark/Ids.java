package dev.millrace.connectors.nexmark;

/**
 * Which people and auctions there are as the stream goes on: person g and auctions 3g to 3g+2 appear in group g, with
 * ids from 1000. References are skewed as in the suite: to a hot one that changes with every hundred, or to any of those
 * in flight, a few of them just ahead of their own appearance.
 */
final class Ids {
    private static final long FIRST_ID = 1000;
    private static final long HOT_EVERY = 100;
    private static final long AUCTIONS_IN_FLIGHT = 100;
    private static final long AUCTIONS_AHEAD = 10;
    private static final long ACTIVE_PEOPLE = 1000;
    private static final long PEOPLE_AHEAD = 10;

    /**
     * What events of a group refer to.
     *
     * @param hot the hot id
     * @param first the lowest id of the others
     * @param count how many others
     */
    record Choice(long hot, long first, long count) {}

    private Ids() {}

    static long person(long group) {
        return FIRST_ID + group;
    }

    /** The k-th auction of a group. */
    static long auction(long group, long k) {
        return FIRST_ID + 3 * group + k;
    }

    /** What bids of a group bid for. */
    static Choice auctions(long group) {
        long last = 3 * group + 2;
        long first = Math.max(0, last - AUCTIONS_IN_FLIGHT);
        return new Choice(FIRST_ID + last / HOT_EVERY * HOT_EVERY, FIRST_ID + first, last - first + 1 + AUCTIONS_AHEAD);
    }

    /** Who sells (hotOffset 0) or bids (1) in a group: hot sellers and hot bidders are different people. */
    static Choice people(long group, int hotOffset) {
        long people = group + 1;
        long active = Math.min(people, ACTIVE_PEOPLE);
        return new Choice(
                FIRST_ID + group / HOT_EVERY * HOT_EVERY + hotOffset,
                FIRST_ID + people - active,
                active + PEOPLE_AHEAD);
    }
}
