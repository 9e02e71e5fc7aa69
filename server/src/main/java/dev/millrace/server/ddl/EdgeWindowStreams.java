package dev.millrace.server.ddl;

import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.WatermarkDefinition;
import dev.millrace.sql.text.Identifiers;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The streams of partial aggregates that the server makes with queries whose windows devices make, and drops with them. With the lock of definitions held.
 */
public final class EdgeWindowStreams {
    private final Instance database;

    public EdgeWindowStreams(Instance database) {
        this.database = database;
    }

    /**
     * The windows of a query that devices make, or why they do not.
     *
     * @param plan of the query
     * @param options of it: one that begins in the past, or takes the place of another, is made at the server
     */
    public WindowsAtEdge.Finding find(String query, PlanNode plan, Map<String, String> options) {
        boolean isOfPast = !options.getOrDefault("start", "now").equalsIgnoreCase("now");
        if (isOfPast || options.containsKey(CatalogObject.REPLACES)) {
            return new WindowsAtEdge.Finding(Optional.empty(), "it does not begin with what comes from now on");
        }
        String stream = WindowsAtEdge.streamOf(query);
        Optional<CatalogObject> kept = database.catalog().object(stream).filter(WindowsAtEdge::isStreamOfPartials);
        if (database.catalogStore().isRestoring() && kept.isEmpty()) {
            return new WindowsAtEdge.Finding(Optional.empty(), "it was made when the server made them");
        }
        String id = kept.filter(object -> database.catalogStore().isRestoring())
                .map(object -> program(object).id())
                .orElseGet(this::newId);
        return WindowsAtEdge.find(plan, query, id, database.catalog()::object);
    }

    /** Unlike that of any query before, also in a database that was put back from a copy. */
    private String newId() {
        return Long.toString(database.catalogStore().lastNumber() + 1, Character.MAX_RADIX) + "."
                + Long.toString(database.clock().epochMicros(), Character.MAX_RADIX);
    }

    private static WindowProgram program(CatalogObject stream) {
        return WindowProgram.parse(Objects.requireNonNull(stream.options().get(WindowProgram.STREAM_OPTION)));
    }

    /**
     * Makes the stream of a query that is about to be made; of one that is made again it is there.
     *
     * @throws MillraceException 42P07 if something else has its name, 55000 if it was made for other windows
     */
    void make(String query, WindowsAtEdge windows, Definitions definitions) {
        String name = WindowsAtEdge.streamOf(query);
        CatalogObject source = database.catalog().object(windows.stream()).orElseThrow();
        if (database.catalogStore().isRestoring()) {
            CatalogObject kept = database.catalog().object(name).orElseThrow();
            if (!program(kept).equals(windows.program())) {
                throw MillraceException.user(
                                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                                "stream \"" + name + "\" has partial aggregates of other windows than query \"" + query
                                        + "\" by now")
                        .withHint("drop the query and create it again");
            }
            return;
        }
        Map<String, String> options = new TreeMap<>();
        options.put("connector", "edge");
        options.put("stream", source.options().getOrDefault("stream", source.name()));
        options.put(WindowProgram.STREAM_OPTION, windows.program().text());
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
        return queries.stream().filter(this::has).map(WindowsAtEdge::streamOf).toList();
    }

    /** Whether devices make the windows of a query. */
    boolean has(String query) {
        return database.catalog()
                .object(WindowsAtEdge.streamOf(query))
                .filter(object -> object.kind() == ObjectKind.STREAM && WindowsAtEdge.isStreamOfPartials(object))
                .isPresent();
    }

    /** @throws MillraceException 0A000 if they do */
    void requireNone(String query, String what) {
        if (has(query)) {
            throw MillraceException.notAvailableYet(what + " a query whose windows devices make")
                    .withHint("drop it and create it again");
        }
    }
}
