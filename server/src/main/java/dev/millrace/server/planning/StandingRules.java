package dev.millrace.server.planning;

import dev.millrace.connector.Options;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.sql.DefinitionZone;
import dev.millrace.sql.statement.Query;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The options of a standing query that its plan depends on.
 *
 * @param late what it does with late rows
 * @param stateTtlMicros after how long it forgets what no watermark lets it drop, if ever
 */
public record StandingRules(LateRule late, OptionalLong stateTtlMicros) {
    public static final StandingRules NONE = new StandingRules(LateRule.UNSAID, OptionalLong.empty());

    private static final String STATE_TTL = "state_ttl";
    private static final long LONGEST_MICROS = 100 * 366 * 86_400_000_000L;

    /** Reads {@code late} and {@code state_ttl}. By {@code timezone} the query was bound. */
    public static StandingRules of(Options options) {
        options.text(DefinitionZone.OPTION);
        return new StandingRules(LateRule.of(options.text("late")), stateTtl(options));
    }

    public static StandingRules of(Map<String, String> options) {
        return of(new Options(options));
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
        return plans.standing(late.applied(query), late == LateRule.DROP, stateTtlMicros, basis);
    }
}
