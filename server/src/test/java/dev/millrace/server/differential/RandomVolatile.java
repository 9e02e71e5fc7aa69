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

    // No sub-queries: behind the join that one becomes a window does not close, so no row is late for it, which the
    // oracle of
    // windows over streams is not told.
    private static String always(Chance chance) {
        return chance.of(
                "random() >= 0",
                "random() < 1",
                "random() BETWEEN 0 AND 1",
                "gen_random_uuid() IS NOT NULL",
                "gen_random_uuid() <> gen_random_uuid()",
                "now() = statement_timestamp()",
                "clock_timestamp() >= now()",
                "now() > '2000-01-01'",
                "current_date >= '2000-01-01'",
                "transaction_timestamp() <= clock_timestamp()");
    }
}
