package dev.millrace.server.planning;

import dev.millrace.planner.estimate.ColumnStatistics;
import dev.millrace.planner.estimate.RelationStatistics;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * What the planner was told of rows, and of the machine, while it planned a standing query. A query that is made again after a restart is told the same,
 * whatever there is by then, so that it gets the plan to which the state belongs that is kept. Safe on any thread.
 *
 * <p>Answers are numbers by question: {@code t rows}, {@code t 3 distinct}, {@code t 3 below 17}; one that knew nothing is left out.
 */
public final class PlanBasis {
    private static final String NOW = "now";
    private static final String WORKERS = "workers";
    private static final int LONG_TEXT = 100;
    private static final Pattern QUESTION = Pattern.compile(" (rows$|so far$|[0-9]+ )"); // behind a relation's name

    private final Map<String, Double> told;
    private final boolean given; // before: then nothing is added

    private PlanBasis(boolean given, Map<String, Double> told) {
        this.given = given;
        this.told = told;
    }

    /** Of a query that is planned for the first time: the planner is told what there is. */
    public static PlanBasis first() {
        return new PlanBasis(false, new ConcurrentHashMap<>());
    }

    /** Of a query that was planned before. */
    public static PlanBasis again(Map<String, Double> told) {
        return new PlanBasis(true, Map.copyOf(told));
    }

    /** What the planner was told so far. */
    public Map<String, Double> told() {
        return Map.copyOf(told);
    }

    /** What was told of relations that have other names now, by these. @param names the new ones, by those before */
    public static Map<String, Double> renamed(Map<String, Double> told, Map<String, String> names) {
        Map<String, Double> renamed = new HashMap<>();
        told.forEach((question, answer) -> renamed.put(
                names.keySet().stream()
                        .filter(name -> question.startsWith(name)
                                && QUESTION.matcher(question.substring(name.length()))
                                        .lookingAt())
                        .findFirst()
                        .map(name -> names.get(name) + question.substring(name.length()))
                        .orElse(question),
                answer));
        return renamed;
    }

    /** Whether the planner was told the same, but for the time. */
    public boolean isLike(PlanBasis other) {
        return withoutTime().equals(other.withoutTime());
    }

    private Map<String, Double> withoutTime() {
        Map<String, Double> rest = new HashMap<>(told);
        rest.remove(NOW);
        return rest;
    }

    /** The time that it goes by, in microseconds since 1970. */
    long micros(long now) {
        return (long) tell(NOW, () -> OptionalDouble.of(now)).orElse(now);
    }

    /** The number of workers that it is made for. */
    int workers(int now) {
        return (int) tell(WORKERS, () -> OptionalDouble.of(now)).orElse(now);
    }

    /** What is known of a relation: from {@code current}, when there is no answer from before. */
    RelationStatistics of(String relation, Function<String, RelationStatistics> current) {
        RelationStatistics now = given ? RelationStatistics.UNKNOWN : current.apply(relation);
        return new RelationStatistics() {
            @Override
            public OptionalLong rows() {
                return tellLong(relation + " rows", now::rows);
            }

            @Override
            public OptionalLong rowsSoFar() {
                return tellLong(relation + " so far", now::rowsSoFar);
            }

            @Override
            public Optional<ColumnStatistics> column(int column) {
                String name = relation + " " + column;
                Optional<ColumnStatistics> known = now.column(column);
                OptionalDouble is =
                        tell(name + " known", () -> known.isPresent() ? OptionalDouble.of(1) : OptionalDouble.empty());
                return is.isPresent() ? Optional.of(new Told(name, known)) : Optional.empty();
            }
        };
    }

    /** Of one column. */
    private final class Told implements ColumnStatistics {
        private final String name;
        private final Optional<ColumnStatistics> now;

        Told(String name, Optional<ColumnStatistics> now) {
            this.name = name;
            this.now = now;
        }

        private OptionalDouble about(String what, Function<ColumnStatistics, OptionalDouble> answer) {
            return tell(name + " " + what, () -> now.map(answer).orElse(OptionalDouble.empty()));
        }

        @Override
        public double distinct() {
            return about("distinct", column -> OptionalDouble.of(column.distinct()))
                    .orElse(1);
        }

        @Override
        public double nullFraction() {
            return about("null", column -> OptionalDouble.of(column.nullFraction()))
                    .orElse(0);
        }

        @Override
        public OptionalDouble equalTo(Object value) {
            return about("is " + text(value), column -> column.equalTo(value));
        }

        @Override
        public OptionalDouble below(Object value) {
            return about("below " + text(value), column -> column.below(value));
        }
    }

    private static String text(Object value) {
        String text = String.valueOf(value);
        return text.length() <= LONG_TEXT ? text : text.substring(0, LONG_TEXT) + " " + text.hashCode();
    }

    private OptionalLong tellLong(String question, Supplier<OptionalLong> answer) {
        OptionalDouble number = tell(question, () -> {
            OptionalLong found = answer.get();
            return found.isPresent() ? OptionalDouble.of(found.getAsLong()) : OptionalDouble.empty();
        });
        return number.isPresent() ? OptionalLong.of((long) number.getAsDouble()) : OptionalLong.empty();
    }

    /** The first answer to a question stays the answer. */
    private OptionalDouble tell(String question, Supplier<OptionalDouble> answer) {
        if (!given && !told.containsKey(question)) {
            answer.get().ifPresent(number -> told.put(question, number));
        }
        Double number = told.get(question);
        return number == null ? OptionalDouble.empty() : OptionalDouble.of(number);
    }
}
