package dev.millrace.server.ddl;

import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.server.planning.WindowsAtEdge.Finding;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.WatermarkDefinition;
import dev.millrace.sql.text.Identifiers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The streams of partial aggregates that the server makes with queries whose windows devices make, and drops with them. Another query may read what one kept: one that is to
 * take its place, or stays beside it. With the lock of definitions held.
 */
public final class EdgeWindowStreams {
    private static final String RETENTION = "retention";

    private final Instance database;

    public EdgeWindowStreams(Instance database) {
        this.database = database;
    }

    /**
     * The windows of a query that devices make, or why they do not.
     *
     * @param plan of the query
     * @param options of it: one that begins in the past is made at the server, or of what devices made
     * @throws MillraceException 0A000 if it was to be of what devices made, and cannot be
     */
    public Finding find(String query, PlanNode plan, Map<String, String> options) {
        Optional<String> of = Optional.ofNullable(options.get(CatalogObject.WINDOWS_OF));
        if (database.catalogStore().isRestoring()) {
            return of.isEmpty() && of(query).isEmpty()
                    ? Finding.none("it was made when the server made them")
                    : again(query, of(query).isPresent() ? query : of.orElseThrow(), plan);
        }
        if (of.isPresent() && (of(query).isPresent() || !of.get().equals(query))) {
            return over(query, of.get(), plan, !options.containsKey(CatalogObject.REPLACES));
        }
        boolean isOfPast = !options.getOrDefault("start", "now").equalsIgnoreCase("now");
        if (of.isEmpty() && (isOfPast || options.containsKey(CatalogObject.REPLACES))) {
            return Finding.none("it does not begin with what comes from now on");
        }
        return making(query, plan);
    }

    /**
     * Whether a query reads partials from the past on, which no sketch has, or may.
     *
     * @param of the option that says whose
     */
    boolean areKept(String query, Optional<String> of) {
        return of.isPresent()
                || database.catalogStore().isRestoring() && of(query).isPresent();
    }

    /** Of a query that was so before. */
    private Finding again(String query, String of, PlanNode plan) {
        Finding finding = WindowsAtEdge.over(plan, require(of), objects());
        if (finding.windows().isEmpty()) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "devices make other windows for \"" + of + "\" than query \"" + query + "\" has by now: "
                                    + finding.whyNot())
                    .withHint("drop the query and create it again");
        }
        return finding;
    }

    private CatalogObject require(String query) {
        return of(query)
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "devices make no windows for \"" + query + "\""));
    }

    /** Of what devices made for a query; where that is nothing yet, as behind a dump, one that stays beside may have others. */
    private Finding over(String query, String of, PlanNode plan, boolean staysBeside) {
        CatalogObject kept = require(of);
        Finding finding = WindowsAtEdge.over(plan, kept, objects());
        if (finding.windows().isEmpty() && staysBeside && database.retained().isEmpty(kept.name())) {
            return making(query, plan);
        }
        if (finding.windows().isEmpty()) {
            String why = finding.whyNot().isEmpty() ? "this query has no windows" : finding.whyNot();
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "of the windows that devices made for \"" + of
                                    + "\" this cannot be added up, and their rows are not here: " + why)
                    .withHint(
                            "ALTER .. AS has devices make others from now on; CREATE .. WITH (start = ..) makes windows"
                                    + " of the rows that the stream keeps");
        }
        return finding;
    }

    /**
     * The windows of a query that is altered: of what devices make for it already, where that has what it needs, else others.
     *
     * @param plan the new one
     */
    Finding altered(String query, PlanNode plan) {
        return of(query)
                .map(kept -> WindowsAtEdge.over(plan, kept, objects()))
                .filter(finding -> finding.windows().isPresent())
                .orElseGet(() -> making(query, plan));
    }

    private Finding making(String query, PlanNode plan) {
        List<String> names = WindowsAtEdge.streamsOf(query);
        String name =
                of(query).isPresent() && of(query).get().name().equals(names.get(0)) ? names.get(1) : names.get(0);
        return WindowsAtEdge.find(plan, name, newId(), objects());
    }

    private Function<String, Optional<CatalogObject>> objects() {
        return database.catalog()::object;
    }

    /** Unlike that of any query before, also in a database that was put back from a copy. */
    private String newId() {
        return Long.toString(database.catalogStore().lastNumber() + 1, Character.MAX_RADIX) + "."
                + Long.toString(database.clock().epochMicros(), Character.MAX_RADIX);
    }

    /** The options of a query that has, or has not, found windows: those of others are said where they are read. */
    Map<String, String> options(Map<String, String> given, Optional<WindowsAtEdge> windows) {
        Map<String, String> options = new TreeMap<>(given);
        if (windows.isEmpty() || isNew(windows.get())) {
            options.remove(CatalogObject.WINDOWS_OF);
        }
        return options;
    }

    /** Whether a stream of partials is yet to be made for windows, and not one that is there. */
    boolean isNew(WindowsAtEdge windows) {
        return database.catalog()
                .object(windows.partials())
                .filter(WindowsAtEdge::isStreamOfPartials)
                .map(WindowsAtEdge::program)
                .filter(program -> program.id().equals(windows.program().id()))
                .isEmpty();
    }

    /**
     * Makes the stream of a query that is about to be made or altered, if it is not there.
     *
     * @throws MillraceException 42P07 if something else has its name
     */
    void make(WindowsAtEdge windows, Definitions definitions) {
        if (!isNew(windows)) {
            return;
        }
        String name = windows.partials();
        CatalogObject source = database.catalog().object(windows.stream()).orElseThrow();
        Map<String, String> options = new TreeMap<>();
        options.put("connector", "edge");
        options.put("stream", source.options().getOrDefault("stream", source.name()));
        options.put(WindowProgram.STREAM_OPTION, windows.program().text());
        Optional.ofNullable(source.options().get(RETENTION)).ifPresent(retention -> options.put(RETENTION, retention));
        WatermarkDefinition watermark = new WatermarkDefinition(
                windows.columns().field(0).name(),
                source.eventTime().orElseThrow().delayMicros());
        definitions.createStream(
                new Statement.CreateStream(
                        name,
                        IfExists.FAIL,
                        windows.columns().fields(),
                        TableRules.NONE,
                        Optional.of(watermark),
                        options),
                text(name, windows, watermark, options));
    }

    private static String text(
            String name, WindowsAtEdge windows, WatermarkDefinition watermark, Map<String, String> options) {
        String columns = windows.columns().fields().stream()
                .map(field -> Identifiers.quote(field.name()) + " " + field.type())
                .collect(Collectors.joining(", "));
        String time = Identifiers.quote(watermark.column());
        String with = options.entrySet().stream()
                .map(option -> option.getKey() + " = " + Identifiers.quoteText(option.getValue()))
                .collect(Collectors.joining(", "));
        return "CREATE STREAM " + Identifiers.quote(name) + " (" + columns + ", WATERMARK FOR " + time + " AS " + time
                + " - INTERVAL '" + watermark.delayMicros() + " microseconds') WITH (" + with + ")";
    }

    /** Those of queries, which go with them. */
    List<String> of(Set<String> queries) {
        return queries.stream()
                .flatMap(query -> of(query).stream())
                .map(CatalogObject::name)
                .toList();
    }

    /** The one that devices make windows for, if they do for a query. */
    public Optional<CatalogObject> of(String query) {
        return WindowsAtEdge.streamsOf(query).stream()
                .flatMap(name -> database.catalog().object(name).stream())
                .filter(object -> object.kind() == ObjectKind.STREAM && WindowsAtEdge.isStreamOfPartials(object))
                .findFirst();
    }

    /**
     * The options by which another query reads what devices made for one, as its rows are not here.
     *
     * @throws MillraceException 0A000 if that was not kept
     */
    Map<String, String> ofPast(CatalogObject query) {
        Optional<CatalogObject> stream = of(query.name());
        if (stream.isEmpty()) {
            return Map.of(); // or those that it has
        }
        if (stream.get().input().filter(StreamInput::retained).isEmpty()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the windows that devices made for \"" + query.name() + "\" are not kept")
                    .withHint(
                            "they are of a query that was made when its stream had a retention; ALTER .. AS begins with"
                                    + " what comes");
        }
        return Map.of(CatalogObject.WINDOWS_OF, query.name());
    }
}
