package dev.millrace.server.planning;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.condense.Condensing;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.Planner;
import dev.millrace.planner.PlannerContext;
import dev.millrace.planner.PlannerContext.Mode;
import dev.millrace.planner.estimate.RelationStatistics;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.planner.user.UserStates;
import dev.millrace.planner.window.EmissionCheck;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RowRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * From statements to plans: the front end and the planner with this database's catalog. Safe on any thread. SELECTs without
 * parameters are remembered with their plans for as long as the catalog stays as it is and the front end remembers their
 * text.
 *
 * <p>Long because what the planner is told of relations and what is remembered of plans hang together.
 */
public final class Plans {
    private static final int REMEMBERED = 250; // some tens of kilobytes each
    private static final long FEW_ROWS = 100;
    private static final int SMALL_ROWS = 16;
    private static final int SMALL_COLUMNS = 64;
    private static final int SMALL_VALUE = 256; // characters or elements

    /** What was found under one version of the catalog. */
    private record Found<T>(long version, T what) {}

    /** @param counted rows that relations had, where the plan depends on that */
    private record Pulled(long version, PhysicalPlan what, Map<String, Long> counted) {}

    private final Cache<ParsedStatement, Found<Statement>> analyzed =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();
    private final Cache<Query, Pulled> pulled =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();
    private final Cache<CatalogObject, Found<RowRules>> rules =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();
    private final LongAdder analyses = new LongAdder();
    private final LongAdder plannings = new LongAdder();
    private final LongAdder knownStatements = new LongAdder();
    private final LongAdder knownPlans = new LongAdder();
    private final Frontend frontend;
    private final DatabaseCatalog catalog;
    private final int parallelism;
    private final Function<String, Optional<PlanNode>> running;
    private final Function<String, RelationStatistics> statistics;
    private final Function<String, RelationStatistics> atHand;
    private final SketchedPasts sketchedPasts;
    private final Clock clock;

    /**
     * @param running the plan of the continuous query or view of a name
     * @param statistics what can be known of the rows of a relation, some of which may be read for it
     * @param atHand what is known of them at once
     */
    public Plans(
            Frontend frontend,
            DatabaseCatalog catalog,
            int parallelism,
            Function<String, Optional<PlanNode>> running,
            Function<String, RelationStatistics> statistics,
            Function<String, RelationStatistics> atHand,
            Clock clock) {
        this.frontend = frontend;
        this.catalog = catalog;
        this.parallelism = parallelism;
        this.running = running;
        this.statistics = statistics;
        this.atHand = atHand;
        this.sketchedPasts = new SketchedPasts(catalog::object);
        this.clock = clock;
    }

    /** How often a statement was analysed, and not known from before. */
    public long analyses() {
        return analyses.sum();
    }

    /** How often a statement was known from before. */
    public long knownStatements() {
        return knownStatements.sum();
    }

    /** How often a plan was. */
    public long knownPlans() {
        return knownPlans.sum();
    }

    /** Statements that are remembered. */
    public long statements() {
        return analyzed.size();
    }

    /** Plans that are. */
    public long plans() {
        return pulled.size();
    }

    /** How often a query was planned. */
    public long plannings() {
        return plannings.sum();
    }

    /**
     * A statement whose parameters have no values yet; not kept here.
     *
     * @throws MillraceException also for what is right with values
     */
    public Statement analyzeOpen(ParsedStatement statement, SessionUse names, List<DataType> declaredTypes) {
        analyses.increment();
        return frontend.analyze(statement, names, Parameters.toDescribe(declaredTypes));
    }

    /**
     * The plan of a continuous query or materialized view without options whose parameters have no values.
     *
     * @param basis is told what the planner asks
     * @return empty if there is none, or another session or role could have another
     */
    public Optional<PlanNode> open(
            ParsedStatement statement, Catalog names, List<DataType> declaredTypes, PlanBasis basis) {
        SessionUse used = new SessionUse(names);
        try {
            return StatementKinds.query(analyzeOpen(statement, used, declaredTypes))
                    .filter(query -> !used.isOwn())
                    .map(query -> StandingRules.NONE.plan(this, query, basis).root());
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty(); // what needs a value has no plan without
        }
    }

    /** The same with the types of its parameters, all of which have to be found. */
    public Frontend.Open describe(ParsedStatement statement, SessionUse names, List<DataType> declaredTypes) {
        analyses.increment();
        Frontend.Open found = frontend.describe(statement, names, declaredTypes);
        requireSelectToStop(names, found.statement());
        return found;
    }

    public Statement analyze(ParsedStatement statement, Catalog names, Parameters parameters) {
        boolean own = names.hasOwnNames();
        Found<Statement> known = own ? null : analyzed.getIfPresent(statement);
        long version = catalog.version();
        if (known != null && known.version() == version) {
            knownStatements.increment();
            return known.what();
        }
        analyses.increment();
        SessionUse used = new SessionUse(names);
        Statement found = frontend.analyze(statement, used, parameters);
        requireSelectToStop(used, found);
        if (found instanceof Statement.Select && statement.parameterCount() == 0 && !used.isOwn() && !own) {
            analyzed.put(statement, new Found<>(version, found));
        }
        return found;
    }

    private static void requireSelectToStop(SessionUse used, Statement found) {
        if (used.stops() && !(found instanceof Statement.Select)) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED, "a session is stopped by a SELECT, not by this statement")
                    .withHint("SELECT pg_cancel_backend(pid)");
        }
    }

    /**
     * The plan of a query whose answer is kept current.
     *
     * @param rules what its options say
     * @param basis what the planner is told of rows
     */
    PhysicalPlan standing(Query query, StandingRules rules, PlanBasis basis) {
        // Queries are created under a lock that others wait for: nothing is read for their plans.
        PlannerContext context = context(
                Mode.STANDING,
                name -> withPrecision(name, false, rules.readsPast()),
                rules.late() == LateRule.DROP,
                rules.stateTtlMicros(),
                name -> basis.of(name, atHand),
                basis.workers(parallelism),
                basis.micros(clock.epochMicros()),
                rules.maxError());
        PhysicalPlan plan = Planner.plan(query, context);
        PlanNode replayed = Rewriter.rewrite(plan.root(), this::replay);
        return new PhysicalPlan(
                replayed,
                plan.appendOnly(),
                plan.emit(),
                plan.uniqueKey(),
                plan.eventTime(),
                plan.joins(),
                plan.asksBounds(),
                Fingerprint.of(replayed));
    }

    /**
     * A continuous query over nothing but replayable streams is replayable as well: who reads it gets its plan in the place
     * of the scan, and so all its rows from the first, however long it has been running.
     */
    private Optional<PlanNode> replay(PlanNode node) {
        if (!(node instanceof PlanNode.Scan scan) || !isReplayable(scan.relation())) {
            return Optional.empty();
        }
        return running.apply(scan.relation())
                .map(plan -> Nodes.named(
                        Nodes.select(plan, scan.columns()), scan.schema().names()));
    }

    /** Whether a name is that of a continuous query all of whose rows can be had again. */
    public boolean isReplayable(String name) {
        return catalog.object(name)
                .filter(object -> object.kind() == ObjectKind.CONTINUOUS_QUERY)
                .filter(object -> object.reads().stream().allMatch(this::givesAllRowsAgain))
                .isPresent();
    }

    /** Whether who reads it gets all its rows from the first, by a reader of its own. */
    public boolean givesAllRowsAgain(String name) {
        Optional<CatalogObject> view = catalog.object(name).filter(object -> object.kind() == ObjectKind.VIEW);
        if (view.isPresent()) {
            return view.get().reads().stream().allMatch(this::givesAllRowsAgain);
        }
        return isReplayable(name)
                || catalog.object(name)
                        .flatMap(CatalogObject::input)
                        .filter(StreamInput::replayable)
                        .isPresent();
    }

    /** Why rows of a query may be taken back, by the part of it that does so; empty if none is. */
    public Optional<String> whyChanging(PhysicalPlan plan) {
        return plan.appendOnly()
                ? Optional.empty()
                : Optional.of(new EmissionCheck(new Inference(this::facts, false), this::facts)
                        .whyChanging(plan.root())
                        .orElse("its rows may be taken back"));
    }

    /** The event time of a continuous query, for those that read it; a view is read from its rows, in no order of time. */
    public static Optional<Relation.EventTime> eventTime(ObjectKind kind, PhysicalPlan plan) {
        return plan.eventTime()
                .filter(time -> kind == ObjectKind.CONTINUOUS_QUERY)
                .map(time -> new Relation.EventTime(time.column(), time.delayMicros(), time.settled()));
    }

    /** The plan of a query over the rows that are there. */
    public PhysicalPlan pull(Query query) {
        Pulled known = pulled.getIfPresent(query);
        long version = catalog.version();
        if (known != null && known.version() == version && isStillGood(known)) {
            knownPlans.increment();
            return known.what();
        }
        Map<String, Long> counted = new HashMap<>();
        Function<String, RelationStatistics> asked = name -> {
            RelationStatistics found = statistics.apply(name);
            found.rows().ifPresent(rows -> counted.putIfAbsent(name, rows));
            return found;
        };
        plannings.increment();
        PhysicalPlan plan = Planner.plan(
                query,
                context(
                        Mode.PULL,
                        this::finiteFacts,
                        false,
                        OptionalLong.empty(),
                        asked,
                        parallelism,
                        clock.epochMicros(),
                        OptionalDouble.empty()));
        pulled.put(query, new Pulled(version, plan, counted));
        return plan;
    }

    /**
     * The same where numbers of the answer may not be further off than this, if that is limited.
     *
     * @throws MillraceException from whoever runs the plan, 22000 when one may be
     */
    public PhysicalPlan pull(Query query, OptionalDouble maxError) {
        boolean isLimited = maxError.isPresent()
                && query.relations().stream()
                        .anyMatch(name -> finiteFacts(name).precision() != RelationFacts.Precision.EXACT);
        if (!isLimited) {
            return pull(query);
        }
        plannings.increment();
        return Planner.plan(
                query,
                context(
                        Mode.PULL,
                        this::finiteFacts,
                        false,
                        OptionalLong.empty(),
                        statistics,
                        parallelism,
                        clock.epochMicros(),
                        maxError));
    }

    /**
     * Whether the statement is remembered as a SELECT of a few constant values: it reads no relation, no task runs for it, and
     * so its answer waits for nobody.
     */
    public boolean isConstant(ParsedStatement statement) {
        Found<Statement> known = analyzed.getIfPresent(statement);
        if (known == null
                || known.version() != catalog.version()
                || !(known.what() instanceof Statement.Select select)
                || !select.query().relations().isEmpty()) {
            return false;
        }
        Pulled plan = pulled.getIfPresent(select.query());
        return plan != null
                && plan.version() == known.version()
                && plan.what().root() instanceof PlanNode.Values values
                && isSmall(values);
    }

    private static boolean isSmall(PlanNode.Values values) {
        if (values.rows().size() > SMALL_ROWS || values.schema().size() > SMALL_COLUMNS) {
            return false;
        }
        for (List<Expression> row : values.rows()) {
            for (Expression value : row) {
                if (value instanceof Expression.Literal literal
                        && (literal.value() instanceof String text && text.length() > SMALL_VALUE
                                || literal.value() instanceof List<?> list && list.size() > SMALL_VALUE)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether no relation has become so much larger or smaller that joins might be wanted in another order. */
    private boolean isStillGood(Pulled plan) {
        for (Map.Entry<String, Long> counted : plan.counted().entrySet()) {
            long before = counted.getValue();
            long now = atHand.apply(counted.getKey()).rows().orElse(before);
            if (Math.abs(now - before) > FEW_ROWS + before / 2) {
                return false;
            }
        }
        return true;
    }

    private PlannerContext context(
            Mode mode,
            Function<String, RelationFacts> facts,
            boolean dropLate,
            OptionalLong stateTtlMicros,
            Function<String, RelationStatistics> statisticsOf,
            int workers,
            long nowMicros,
            OptionalDouble maxError) {
        return new PlannerContext(
                mode,
                facts,
                workers,
                Plans::fold,
                dropLate,
                stateTtlMicros,
                Plans::userStates,
                statisticsOf,
                OptionalLong.of(nowMicros),
                maxError);
    }

    private static Optional<UserStates> userStates(String function) {
        return UserCode.states(function).map(states -> new UserStates(states.retracts(), states.merges()));
    }

    /** Computes a constant, unless that takes users' code; fails as it does. */
    private static Expression fold(Expression constant) {
        if (UserCalls.isIn(constant)
                || Expressions.any(constant, part -> ParameterPlace.number(part).isPresent())) {
            return constant; // its value comes later
        }
        return ConstantFolder.evaluate(constant);
    }

    /** What rows of a relation go through before they are written. */
    public RowRules rules(CatalogObject object) {
        if (object.rules().isEmpty()) {
            return RowRules.NONE;
        }
        Found<RowRules> known = rules.getIfPresent(object);
        long version = catalog.version();
        if (known != null && known.version() == version) {
            return known.what();
        }
        RowRules found = frontend.rules(object.relation().orElseThrow(), catalog);
        rules.put(object, new Found<>(version, found));
        return found;
    }

    /** A plan over {@link Relation#AT_HAND} that completes rows of a relation with the columns computed from others. */
    public PlanNode generation(Relation relation) {
        return pull(frontend.rules(relation, catalog).generation().orElseThrow())
                .root();
    }

    /** Of a query that comes to an end: what streams have kept is read by readers of its own. */
    private RelationFacts finiteFacts(String name) {
        Optional<StreamInput> input = catalog.object(name).flatMap(CatalogObject::input);
        return withPrecision(name, input.filter(StreamInput::retained).isPresent(), true);
    }

    /** With how far values may be off. @param isOfPast whether what a stream kept is read */
    private RelationFacts withPrecision(String name, boolean isAgain, boolean isOfPast) {
        RelationFacts known = facts(name);
        boolean isReplayable = known.replayable() || isAgain;
        Optional<StreamInput> input = catalog.object(name).flatMap(CatalogObject::input);
        Optional<Condensing> condensing = input.filter(stream -> isOfPast)
                .flatMap(StreamInput::sketched)
                .or(() -> input.flatMap(StreamInput::source).flatMap(Source::condensing));
        boolean isUnknown = sketchedPasts.isIn(name);
        return isReplayable != known.replayable() || condensing.isPresent() || isUnknown
                ? new RelationFacts(
                        known.appendOnly(),
                        isReplayable,
                        known.eventTime(),
                        known.primaryKey(),
                        known.keepsRows(),
                        condensing,
                        isUnknown
                                ? RelationFacts.Precision.UNKNOWN
                                : condensing.isPresent()
                                        ? RelationFacts.Precision.BOUNDED
                                        : RelationFacts.Precision.EXACT)
                : known;
    }

    private RelationFacts facts(String name) {
        if (Relation.isAtHand(name) || FileRelation.isName(name)) {
            return new RelationFacts(true, true, Optional.empty(), List.of());
        }
        Optional<CatalogObject> object = catalog.object(name);
        if (object.isEmpty() && RetainedStreams.isOwnName(name)) {
            return new RelationFacts(true, true, Optional.empty(), List.of());
        }
        if (object.isEmpty() && catalog.systemRelation(name).isEmpty()) {
            // dropped between validation and planning
            throw DatabaseCatalog.undefined("relation", name, catalog.relationNames());
        }
        return object.map(Plans::facts).orElseGet(() -> new RelationFacts(true, true, Optional.empty(), List.of()));
    }

    private static RelationFacts facts(CatalogObject object) {
        long idleTimeoutMicros = object.kind() == ObjectKind.TABLE
                ? new Options(object.options()).durationMicros(CatalogObject.IDLE_TIMEOUT, 0)
                : object.input().map(StreamInput::idleTimeoutMicros).orElse(0L);
        return new RelationFacts(
                object.appendOnly(),
                object.input().map(StreamInput::replayable).orElse(false),
                object.eventTime()
                        .map(time -> new RelationFacts.EventTime(
                                time.column(), time.delayMicros(), idleTimeoutMicros, time.settled())),
                object.primaryKey(),
                object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.MATERIALIZED_VIEW);
    }

    /** A plan as EXPLAIN shows it. */
    public String text(PhysicalPlan plan, boolean standing) {
        Mode mode = standing ? Mode.STANDING : Mode.PULL;
        return PlanText.of(
                plan.root(),
                new Inference(standing ? this::facts : this::finiteFacts, !standing),
                context(
                                mode,
                                standing ? this::facts : this::finiteFacts,
                                false,
                                OptionalLong.empty(),
                                atHand,
                                parallelism,
                                clock.epochMicros(),
                                OptionalDouble.empty())
                        .cardinality());
    }

    /** What the plans of one query group have in common, as text. */
    public String fingerprint(PlanNode plan) {
        return Fingerprint.of(plan).hash();
    }
}
