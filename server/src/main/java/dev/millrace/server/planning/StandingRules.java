package dev.millrace.server.planning;

import dev.millrace.connector.Options;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.sql.DefinitionZone;
import dev.millrace.sql.statement.Query;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The options of a standing query that its plan depends on.
 *
 * @param late what it does with late rows
 * @param stateTtlMicros after how long it forgets what no watermark lets it drop, if ever
 * @param maxError how far numbers that it shows may be off before it stops, if that is limited
 * @param readsPast whether it begins in the past of streams
 */
public record StandingRules(LateRule late, OptionalLong stateTtlMicros, OptionalDouble maxError, boolean readsPast) {
    /** Of a query that begins now, and has no options. */
    public static final StandingRules NONE =
            new StandingRules(LateRule.UNSAID, OptionalLong.empty(), OptionalDouble.empty(), false);

    private static final String START = "start";
    private static final String STATE_TTL = "state_ttl";
    private static final long LONGEST_MICROS = 100 * 366 * 86_400_000_000L;

    /** Reads {@code late}, {@code state_ttl} and {@code max_error}; of a query that begins now. By {@code timezone} the query was bound. */
    public static StandingRules of(Options options) {
        options.text(DefinitionZone.OPTION);
        return new StandingRules(LateRule.of(options.text("late")), stateTtl(options), MaxError.of(options), false);
    }

    /** The same, of a query that may have the option {@code start}. */
    public static StandingRules ofQuery(Options options) {
        StandingRules now = of(options);
        return new StandingRules(now.late, now.stateTtlMicros, now.maxError, isInPast(options.text(START)));
    }

    /** The same of a query that begins in the past, and reads rows there that no sketch has. */
    public StandingRules uncondensed() {
        return new StandingRules(late, stateTtlMicros, maxError, false);
    }

    public static StandingRules ofQuery(Map<String, String> options) {
        return ofQuery(new Options(options));
    }

    /** Whether a value of {@code start} is not now. */
    static boolean isInPast(Optional<String> start) {
        return start.filter(text -> !text.trim().equalsIgnoreCase("now")).isPresent();
    }

    private static OptionalLong stateTtl(Options options) {
        Optional<String> text = options.text(STATE_TTL);
        if (text.isEmpty()) {
            return OptionalLong.empty();
        }
        long micros = options.durationMicros(STATE_TTL, 0);
        if (micros <= 0 || micros > LONGEST_MICROS) {
            throw Options.invalid(STATE_TTL, text.get(), "a duration greater than zero, at most 100 years");
        }
        return OptionalLong.of(micros);
    }

    /** @param basis what the planner is told of rows */
    public PhysicalPlan plan(Plans plans, Query query, PlanBasis basis) {
        return plans.standing(late.applied(query), this, basis);
    }
}
