package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.planner.tree.ScanNames;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.SketchedPasts;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.retention.ArrivalSpan;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.retention.RowChoice;
import dev.millrace.sql.statement.Query;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * {@code WITH (start = ..)} of standing queries: from where they read the streams that keep their rows. A query that begins in the past has a
 * reader of its own of each such stream, which goes on with what comes; in its plan that stands in the place of the stream.
 */
final class Starts {
    private static final String EXPECTED = "now, earliest, a time such as 2026-01-31 10:00Z, or an age such as 7 days";
    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .parseCaseInsensitive()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .optionalStart()
            .appendPattern("['T'][' ']HH:mm[:ss]")
            .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
            .optionalStart()
            .appendPattern("[' ']")
            .appendOffset("+HH:mm", "Z")
            .optionalEnd()
            .optionalEnd()
            .parseDefaulting(ChronoField.HOUR_OF_DAY, 0)
            .toFormatter(Locale.ROOT);

    private final Instance database;

    Starts(Instance database) {
        this.database = database;
    }

    /** Whether a query of these options has readers of its own of what streams kept. */
    boolean beginsInThePast(Map<String, String> options, Set<String> reads) {
        return StandingRules.ofQuery(options).readsPast() && reads.stream().anyMatch(this::isRetained);
    }

    private boolean isRetained(String relation) {
        return database.catalog()
                .object(relation)
                .flatMap(object -> object.input())
                .filter(StreamInput::retained)
                .isPresent();
    }

    /**
     * The plan by which a query runs that is to begin where its options say.
     *
     * @param createdMicros when the query was made first, from which ages count
     * @throws MillraceException 22023 if it cannot begin there
     */
    PlanNode plan(String name, PlanNode plan, Options options, Query query, long createdMicros) {
        Optional<String> start = options.text("start").map(text -> text.trim().toLowerCase(Locale.ROOT));
        Optional<String> stop = options.text("stop").map(text -> text.trim().toLowerCase(Locale.ROOT));
        if (stop.isPresent() && start.filter(from -> !from.equals("now")).isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "stop needs a start in the past")
                    .withHint("start = 'earliest' begins with all that is kept");
        }
        RowChoice choice = RowChoice.of(options);
        if (start.isEmpty()) {
            RowChoices.requireNone(choice);
            return plan;
        }
        Set<String> scanned = scanned(plan);
        if (scanned.stream().noneMatch(this::isRetained)) {
            RowChoices.requireNone(choice);
            requireAsIs(start.get(), query);
            if (stop.isPresent()) {
                throw MillraceException.notAvailableYet("stop here")
                        .withHint("it is for streams WITH (retention = ..)");
            }
            return plan;
        }
        if (start.get().equals("now")) {
            RowChoices.requireNone(choice);
            return plan;
        }
        new RowChoices(database)
                .require(
                        name,
                        choice,
                        plan,
                        scanned.stream().filter(this::isRetained).toList());
        ArrivalSpan arrivals = new ArrivalSpan(
                start.get().equals("earliest") ? Long.MIN_VALUE : micros(start.get(), createdMicros),
                stop.map(text -> text.equals("now") ? createdMicros : micros(text, createdMicros))
                        .orElse(Long.MAX_VALUE));
        if (arrivals.from() >= arrivals.to()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "stop = '" + stop.get() + "' is not later than start = '" + start.get() + "'");
        }
        Set<String> added = new HashSet<>();
        try {
            return Rewriter.rewrite(
                    plan,
                    node -> node instanceof PlanNode.Scan scan && isRetained(scan.relation())
                            ? Optional.of(follow(name, scan, arrivals, choice, added))
                            : Optional.empty());
        } catch (RuntimeException e) {
            added.forEach(database.engine().relations()::drop);
            database.retained().forgetReaders(name);
            throw e;
        }
    }

    /**
     * Holds a standing query that asks how far off values may be, or limits that, to reading values of which it is known.
     *
     * @throws MillraceException 0A000 if it reads what was computed of sketches, or came in them, and was kept without bounds
     */
    void requireKnownErrors(PhysicalPlan plan, StandingRules rules, Set<String> reads) {
        boolean asks = plan.asksBounds();
        if ((asks || rules.maxError().isPresent())
                && new SketchedPasts(database.catalog()::object).areKeptWithoutBounds(reads)) {
            throw MillraceException.notAvailableYet((asks ? "error_bound" : "max_error")
                            + " in a standing query that reads what was kept without bounds")
                    .withHint("ask for bounds where the stream that was sketched is read, and keep them as columns");
        }
    }

    private PlanNode follow(
            String query, PlanNode.Scan scan, ArrivalSpan arrivals, RowChoice choice, Set<String> added) {
        String as = RetainedStreams.ownName(scan.relation(), query);
        if (added.add(as)) {
            database.engine()
                    .relations()
                    .addSource(as, database.retained().follow(scan.relation(), query, arrivals, choice), OnError.FAIL);
        }
        return new PlanNode.Scan(as, scan.columns(), scan.predicates(), scan.condensation(), scan.schema());
    }

    /** Forgets the readers that a query had, when it is gone. */
    void forget(String name, PlanNode plan) {
        for (String relation : own(name, plan)) {
            database.engine().relations().drop(relation);
            database.retained().forgetReaders(name);
        }
    }

    /** The names by which the engine knows a query's own readers. */
    Set<String> own(String name, PlanNode plan) {
        Set<String> own = scanned(plan);
        own.removeIf(relation -> !RetainedStreams.isOwnName(relation)
                || !relation.endsWith(" for " + name)
                || database.catalog().object(relation).isPresent());
        return own;
    }

    /** The plan of a query that has another name from now on, by the new names of its own readers, and these by those before. */
    PlanNode renamed(String name, String newName, PlanNode plan, Map<String, String> renamed) {
        for (String relation : own(name, plan)) {
            String stream = RetainedStreams.streamOf(relation, name);
            renamed.put(relation, RetainedStreams.ownName(stream, newName));
        }
        return ScanNames.renamed(plan, renamed);
    }

    void forget(String name, StandingQuery query) {
        forget(name, query.plan());
    }

    private static Set<String> scanned(PlanNode plan) {
        Set<String> scanned = new HashSet<>();
        Rewriter.rewrite(plan, node -> {
            if (node instanceof PlanNode.Scan scan) {
                scanned.add(scan.relation());
            }
            return Optional.empty();
        });
        return scanned;
    }

    /** Replayable streams are always read from their first row, others from now on: asking for that is allowed. */
    private void requireAsIs(String start, Query query) {
        boolean replayable = query.relations().stream()
                .flatMap(read -> database.catalog().object(read).stream())
                .allMatch(object -> object.input().map(StreamInput::replayable).orElse(true));
        if (!start.equals(replayable ? "earliest" : "now")) {
            throw MillraceException.notAvailableYet("start = '" + start + "' here")
                    .withHint(
                            replayable
                                    ? "what this query reads is read from the first row: start = 'earliest'"
                                    : "what this query reads is not retained: start = 'now'");
        }
    }

    private static long micros(String start, long createdMicros) {
        try {
            TemporalAccessor time =
                    TIME.parseBest(start.toUpperCase(Locale.ROOT), OffsetDateTime::from, LocalDateTime::from);
            OffsetDateTime at =
                    time instanceof OffsetDateTime zoned ? zoned : ((LocalDateTime) time).atOffset(ZoneOffset.UTC);
            return ChronoUnit.MICROS.between(OffsetDateTime.of(1970, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC), at);
        } catch (DateTimeException | ArithmeticException e) {
            return createdMicros - age(start);
        }
    }

    private static long age(String start) {
        try {
            return new Options(Map.of("start", start)).durationMicros("start", 0);
        } catch (MillraceException e) {
            throw Options.invalid("start", start, EXPECTED);
        }
    }
}
