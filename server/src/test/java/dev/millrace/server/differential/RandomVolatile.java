package dev.millrace.server.differential;

/**
 * Values and conditions with the time and random values in them, which the oracle is asked without: whatever they give, the
 * answer is the same.
 */
final class RandomVolatile {
    /** One in so many expressions has one. */
    private static final int ONE_IN = 250;

    private RandomVolatile() {}

    static boolean isWanted(Chance chance) {
        return chance.below(ONE_IN) == 0 && !chance.replays();
    }

    static Dual condition(Chance chance, Dual condition) {
        return Dual.of("({} AND " + always(chance) + ")", "{}", condition);
    }

    static Dual value(Chance chance, Dual value) {
        return Dual.of("CASE WHEN " + always(chance) + " THEN {} END", "{}", value);
    }

    // No sub-queries, and no comparisons of the time with constants to come: behind the joins and time filters that
    // these become a window does not close, so no row is late for it, which the oracle is not told.
    private static String always(Chance chance) {
        return chance.of(
                "random() >= 0",
                "random() < 1",
                "random() BETWEEN 0 AND 1",
                "gen_random_uuid() IS NOT NULL",
                "gen_random_uuid() <> gen_random_uuid()",
                "now() = statement_timestamp()",
                "clock_timestamp() IS NOT NULL",
                "now() > TIMESTAMPTZ '2020-02-03 04:05:06+00'",
                "NOT now() <= TIMESTAMP '2020-02-03 04:05:06'",
                "current_date - 30 > DATE '2020-02-03'",
                "now() IS NOT NULL",
                "current_date IS NOT NULL",
                "transaction_timestamp() <= now()");
    }
}
