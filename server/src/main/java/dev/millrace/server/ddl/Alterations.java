package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Retries;
import dev.millrace.server.planning.EdgeNeeds;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.DefinitionZone;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * ALTER CONTINUOUS QUERY and MATERIALIZED VIEW ... AS, and what EXPLAIN says of it before; and SET and RESET of options that the plan follows from, which change only what
 * becomes of rows to come: what would lose rows that the query has seen is refused.
 */
public final class Alterations {
    /** What SET and RESET may say. */
    private static final Set<String> OPTIONS = Set.of("state_ttl", "late", "max_error", Retries.OPTION);

    private final Instance database;
    private final Consumer<String> notices;
    private final Queries queries;
    private final Indexes indexes;
    private final Definitions definitions;
    private final Drops drops;
    private final EdgeWindowStreams windowStreams;

    public Alterations(
            Instance database,
            Consumer<String> notices,
            Queries queries,
            Indexes indexes,
            Definitions definitions,
            Drops drops) {
        this.database = database;
        this.notices = notices;
        this.queries = queries;
        this.indexes = indexes;
        this.definitions = definitions;
        this.drops = drops;
        this.windowStreams = new EdgeWindowStreams(database);
    }

    /**
     * A query that is to be altered, and its new plan.
     *
     * @param options that it has from then on
     * @param windows that devices make of it from then on
     * @param known the plan; of windows that no device makes yet, as the server would make them
     * @param alteration to what is known
     */
    private record Planned(
            CatalogObject object,
            Map<String, String> options,
            StandingQuery query,
            PhysicalPlan plan,
            Optional<WindowsAtEdge> windows,
            PlanBasis basis,
            PlanNode known,
            Alteration alteration) {
        PlanNode root() {
            return windows.map(WindowsAtEdge::plan).orElse(plan.root());
        }
    }

    private Planned plan(Statement.AlterQuery alter) {
        return plan(
                alter,
                database.catalog()
                        .object(alter.name())
                        .map(CatalogObject::options)
                        .orElse(Map.of()));
    }

    private Planned plan(Statement.AlterQuery alter, Map<String, String> options) {
        boolean plain = database.catalog()
                .object(alter.name())
                .filter(object -> object.kind() == ObjectKind.VIEW)
                .isPresent();
        if (plain && alter.kind() == ObjectKind.VIEW) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE, "\"" + alter.name() + "\" is a view that nothing is kept of")
                    .withHint("CREATE OR REPLACE VIEW gives it another query");
        }
        if (alter.kind() == ObjectKind.STREAM
                && database.catalog()
                        .object(alter.name())
                        .flatMap(CatalogObject::input)
                        .filter(StreamInput::isDerived)
                        .isPresent()) {
            throw MillraceException.notAvailableYet("ALTER STREAM .. AS")
                    .withHint("DROP it, and CREATE it with the other query; its rows would be of two queries");
        }
        if (alter.kind() != ObjectKind.CONTINUOUS_QUERY
                && alter.kind() != ObjectKind.MATERIALIZED_VIEW
                && alter.kind() != ObjectKind.VIEW) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE,
                    "a " + alter.kind().sqlName() + " has no query to alter; a continuous query and a view have");
        }
        CatalogObject object = database.catalog().require(alter.kind(), alter.name());
        queries.checks().requireStreaming(alter.query().relations(), "a standing query");
        if (database.catalog().withDependents(alter.name()).stream()
                .anyMatch(alter.query().dependsOn()::contains)) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "\"" + alter.name() + "\" would read itself");
        }
        Starts starts = new Starts(database);
        if (starts.beginsInThePast(object.options(), object.reads())
                || starts.beginsInThePast(object.options(), alter.query().relations())) {
            throw MillraceException.notAvailableYet("ALTER of a query that began in the past of a stream")
                    .withHint("CREATE OR REPLACE it: it begins there again");
        }
        if (object.options().containsKey(DefinitionZone.OPTION)) {
            throw MillraceException.notAvailableYet("ALTER of a query WITH (timezone = ..)")
                    .withHint("CREATE OR REPLACE it");
        }
        PlanBasis basis = PlanBasis.first();
        PhysicalPlan plan = queries.plan(alter.query(), StandingRules.ofQuery(options), basis);
        boolean atEdge = EdgeNeeds.isWanted(new Options(object.options()));
        Optional<WindowsAtEdge> windows =
                atEdge ? windowStreams.altered(object.name(), plan.root()).windows() : Optional.empty();
        if (atEdge && windows.isEmpty()) {
            EdgeNeeds.of(plan.root(), database.catalog()::object).require();
        }
        StandingQuery query = database.standing(alter.name()).orElseThrow();
        PlanNode known = windows.filter(found -> !windowStreams.isNew(found))
                .map(WindowsAtEdge::plan)
                .orElse(plan.root());
        return new Planned(
                object,
                options,
                query,
                plan,
                windows,
                basis,
                known,
                database.engine().alteration(alter.name(), known));
    }

    /** The new plan, each operator with what becomes of its state. */
    public List<String> describe(Statement.AlterQuery alter) {
        database.lockDefinitions();
        try {
            Planned planned = plan(alter);
            List<String> lines = new ArrayList<>();
            if (planned.alteration.changesNothing()) {
                lines.add("nothing changes: the plan is the same, all state is kept");
            }
            String text = PlanText.annotated(
                    planned.known,
                    node -> note(planned.alteration, node).stream().toList());
            text.lines().forEach(lines::add);
            planned.windows.ifPresent(windows -> lines.addAll(windows.describe()));
            subscribersLine(planned).ifPresent(lines::add);
            return lines;
        } finally {
            database.definitionLock().unlock();
        }
    }

    private static Optional<String> subscribersLine(Planned planned) {
        if (planned.alteration.changesNothing()) {
            return Optional.empty();
        }
        boolean same =
                types(planned.object.schema()).equals(types(planned.plan.root().schema()));
        if (!same) {
            return Optional.of("columns change: subscriptions end");
        }
        return Optional.of(
                planned.query.materialized()
                        ? "columns stay: subscribers see the difference between the answers"
                        : "columns stay: subscribers see the changes from then on");
    }

    private static List<DataType> types(Schema schema) {
        return schema.fields().stream().map(Field::type).toList();
    }

    private static Optional<String> note(Alteration alteration, PlanNode node) {
        if (alteration.changesNothing()) {
            return Optional.empty();
        }
        return switch (alteration.fate(node)) {
            case STATELESS -> Optional.empty();
            case KEPT -> Optional.of("keeps its state");
            case REBUILT -> Optional.of("rebuilt from " + String.join(", ", alteration.origins(node)));
            case STARTS_NOW ->
                Optional.of("state starts now: former rows of " + String.join(", ", alteration.lost(node))
                        + " are not kept");
            case GOES_ON -> Optional.of("goes on");
            case READ_AGAIN -> Optional.of("read again from its first row");
            case FROM_NOW -> Optional.of("from now on");
        };
    }

    public Command alter(Statement.AlterQuery alter) {
        Command altered = Command.of("ALTER " + alter.kind().sqlName().toUpperCase(Locale.ROOT));
        database.lockDefinitions();
        try {
            Planned planned = plan(alter);
            requireNoDependents(alter, planned);
            Set<String> lost = lost(planned);
            Optional<CatalogObject> forgotten = windowStreams
                    .of(alter.name())
                    .filter(before -> planned.windows.isEmpty()
                            || !planned.windows.get().partials().equals(before.name()));
            forgotten.ifPresent(before -> requireNoOther(before.name(), alter.name()));
            if (planned.alteration.changesNothing()) {
                notices.accept("the plan of \"" + alter.name() + "\" is the same: nothing changes, all state is kept");
            } else {
                database.queries().put(alter.name(), altered(alter.name(), planned));
            }
            if (!lost.isEmpty()) {
                notices.accept(goesOn(alter.name(), lost));
            }
            CatalogObject after = altered(planned, alter);
            List<Index> with = indexes.altered(planned.object, after);
            database.catalogStore().plannedBy(alter.name(), planned.basis);
            database.catalog().replace(after);
            indexes.replace(after, with);
            forgotten.ifPresent(before -> drops.takeBack(before.name()));
            return altered;
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** Relations of which the query has seen rows that are in nothing that goes on: neither in a state nor, where an answer is kept, in that. */
    private static Set<String> lost(Planned planned) {
        if (planned.alteration.changesNothing()) {
            return Set.of();
        } else if (planned.query.materialized()) {
            return planned.alteration.lost(planned.known);
        }
        Set<String> lost = new TreeSet<>();
        collectLost(planned.known, planned.alteration, lost);
        return lost;
    }

    private static void collectLost(PlanNode node, Alteration alteration, Set<String> into) {
        if (alteration.fate(node) == Alteration.Fate.STARTS_NOW) {
            into.addAll(alteration.lost(node));
        }
        node.inputs().forEach(input -> collectLost(input, alteration, into));
    }

    private static String goesOn(String query, Set<String> lost) {
        return "\"" + RelationNames.shown(query) + "\" goes on without former rows of "
                + lost.stream().map(RelationNames::shown).collect(Collectors.joining(", ")) + ", which are not kept";
    }

    // ---- options ---------------------------------------------------------------------------------------------------

    /** Whether SET or RESET is of options that are changed so. */
    public static boolean isOfPlan(Statement.AlterOptions alter) {
        boolean isQuery = alter.kind() == ObjectKind.CONTINUOUS_QUERY || alter.kind() == ObjectKind.MATERIALIZED_VIEW;
        return isQuery && OPTIONS.containsAll(alter.options().keySet());
    }

    public Command alterOptions(Statement.AlterOptions alter) {
        database.lockDefinitions();
        try {
            CatalogObject object = database.catalog().require(alter.kind(), alter.name());
            Map<String, String> options = new TreeMap<>(object.options());
            alter.options().forEach((option, value) -> {
                if (value.isEmpty()) {
                    options.remove(option);
                } else {
                    options.put(option, value);
                }
            });
            new Options(options).integer(Retries.OPTION, 0, 0, Retries.MOST);
            try (PlainNumeric.Binding meaning = object.numeric().bind()) {
                alterOptions(object, options);
            }
            return Command.of("ALTER " + alter.kind().sqlName().toUpperCase(Locale.ROOT));
        } finally {
            database.definitionLock().unlock();
        }
    }

    private void alterOptions(CatalogObject object, Map<String, String> options) {
        String name = object.name();
        String same =
                "ALTER " + object.kind().sqlName() + " " + RelationNames.quoted(name) + " AS " + object.queryText();
        Statement.AlterQuery alter = (Statement.AlterQuery) database.frontend()
                .analyze(database.frontend().parse(same).get(0), database.catalog(), Parameters.none());
        Planned planned = plan(alter, options);
        if (planned.query.state() == QueryState.FAILED) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + RelationNames.shown(name) + "\" has failed")
                    .withHint("RESUME it first");
        }
        requireNoDependents(alter, planned);
        Set<String> lost = lost(planned);
        if (!lost.isEmpty()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "these options would be of another plan, by which " + goesOn(name, lost))
                    .withHint(
                            "CREATE OR REPLACE it WITH them, which begins anew; where a stream keeps its rows, WITH (start ="
                                    + " 'earliest') reads them");
        }
        if (!planned.alteration.changesNothing()) {
            database.queries().put(name, altered(name, planned));
        }
        database.catalogStore().plannedBy(name, planned.basis);
        database.catalog().replace(altered(planned, alter));
    }

    private StandingQuery altered(String name, Planned planned) {
        Options options = new Options(planned.options);
        QueryOptions how = queries.limits()
                .limited(planned.query.materialized() ? QueryOptions.view() : QueryOptions.streaming(), options);
        int priority = Integer.parseInt(planned.options.getOrDefault("priority", "0"));
        Optional<WindowsAtEdge> made = planned.windows.filter(windowStreams::isNew);
        made.ifPresent(windows -> windowStreams.make(windows, definitions));
        try {
            StandingQuery query = database.engine()
                    .alter(
                            name,
                            planned.root(),
                            Schedules.scheduled(how, options)
                                    .withPriority(priority)
                                    .withMostBytes(queries.limits().mostBytes()));
            queries.epochs().wrote(query.firstEpoch());
            return query;
        } catch (RuntimeException | Error e) {
            made.ifPresent(windows -> drops.takeBack(windows.partials()));
            throw e;
        }
    }

    private void requireNoOther(String partials, String query) {
        List<String> others = database.catalog().dependents(partials).stream()
                .filter(other -> !other.equals(query))
                .sorted()
                .toList();
        if (!others.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "devices would make other windows for \"" + query + "\", and others read those that they"
                                    + " make: " + String.join(", ", others))
                    .withHint("drop them, alter it, and create them again");
        }
    }

    private void requireNoDependents(Statement.AlterQuery alter, Planned planned) {
        List<String> dependents =
                database.catalog().dependents(alter.name()).stream().sorted().toList();
        if (!dependents.isEmpty() && !planned.alteration.changesNothing()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot alter \"" + alter.name() + "\" because other objects read it: "
                                    + String.join(", ", dependents))
                    .withHint("drop them, alter it, and create them again");
        }
        if (planned.query.state() == QueryState.PAUSED) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + alter.name() + "\" is paused")
                    .withHint("RESUME it first");
        }
    }

    private static CatalogObject altered(Planned planned, Statement.AlterQuery alter) {
        CatalogObject object = planned.object;
        Set<String> reads = new HashSet<>(alter.query().dependsOn());
        planned.windows.ifPresent(windows -> reads.add(windows.partials()));
        String definition =
                CatalogObject.queryDefinition(object.kind(), object.name(), planned.options, alter.queryText());
        return new CatalogObject(
                object.name(),
                object.kind(),
                alter.query().schema(),
                planned.plan.appendOnly(),
                planned.plan.uniqueKey().orElse(List.of()),
                Plans.eventTime(object.kind(), planned.plan),
                object.input(),
                reads,
                planned.options,
                definition,
                object.createdMicros(),
                TableRules.NONE);
    }
}
