package dev.millrace.planner;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.estimate.RelationStatistics;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.user.UserStates;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * What a plan depends on besides the query. Functions are called on the planning thread and must be pure during one
 * call of {@link Planner#plan}.
 *
 * @param mode what the plan is for
 * @param relations what is known of each relation the query names
 * @param parallelism how many tasks a pipeline may have; with 1 there are no exchanges
 * @param folder the value (a literal or NULL) of an expression over constants; what it cannot evaluate it gives back, and
 *     what has no value it fails with
 * @param dropLate whether late rows are dropped also where windows stay open (EMIT CHANGES and late = 'drop'); windows
 *     that close drop them anyway
 * @param stateTtlMicros after how long operators forget what no watermark lets them drop, if ever
 * @param userStates what can be done with the states of a user's aggregate, by what plans call it
 * @param statistics what is known of a relation's rows; the order of joins follows it
 * @param nowMicros the time of the clock, in microseconds since 1970: what it has passed is passed for ever; empty if that is
 *     not to be made use of
 * @param maxError how far numbers of the answer may be off; where one may be further off the query fails
 */
public record PlannerContext(
        Mode mode,
        Function<String, RelationFacts> relations,
        int parallelism,
        UnaryOperator<Expression> folder,
        boolean dropLate,
        OptionalLong stateTtlMicros,
        Function<String, Optional<UserStates>> userStates,
        Function<String, RelationStatistics> statistics,
        OptionalLong nowMicros,
        OptionalDouble maxError) {

    /** What a plan is for. */
    public enum Mode {
        /** A query whose answer is kept current. */
        STANDING,
        /** A query over the rows that are there: no watermarks, windows close at the end of the input. */
        PULL
    }

    /** The folder for expressions of rows: one that fails is left for the row that needs it, if ever there is one. */
    UnaryOperator<Expression> folderOfRows() {
        return expression -> {
            try {
                return folder.apply(expression);
            } catch (MillraceException e) {
                return expression;
            }
        };
    }

    /** How many rows nodes give, by what this context knows. */
    public Cardinality cardinality() {
        return new Cardinality(statistics, name -> relations.apply(name).primaryKey());
    }

    /** A context without functions of users whose states could be kept, without statistics and without a clock. */
    public PlannerContext(
            Mode mode,
            Function<String, RelationFacts> relations,
            int parallelism,
            UnaryOperator<Expression> folder,
            boolean dropLate,
            OptionalLong stateTtlMicros) {
        this(
                mode,
                relations,
                parallelism,
                folder,
                dropLate,
                stateTtlMicros,
                key -> Optional.empty(),
                name -> RelationStatistics.UNKNOWN,
                OptionalLong.empty(),
                OptionalDouble.empty());
    }

    public PlannerContext {
        Objects.requireNonNull(mode);
        Objects.requireNonNull(relations);
        Objects.requireNonNull(folder);
        Objects.requireNonNull(nowMicros);
        Objects.requireNonNull(maxError);
        if (parallelism < 1) {
            throw new IllegalArgumentException("parallelism must be at least 1, not " + parallelism);
        }
    }
}
