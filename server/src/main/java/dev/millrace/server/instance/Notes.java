package dev.millrace.server.instance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.Options;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgcatalog.RelationNotes;
import dev.millrace.server.planning.EdgeNeeds;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.sketched.ColumnCost;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.retention.KeptSegment;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * What descriptions say: of a stream that keeps its rows how, and what each column costs; of a query with {@code run_at = 'edge'} what devices do and what the
 * server does. Safe on any thread.
 */
final class Notes implements RelationNotes {
    private static final long MOST_BYTES = 32 << 20; // of the newest segments that are looked at

    private final DatabaseCatalog catalog;
    private final Function<String, Optional<PlanNode>> plans;
    private final RetainedStreams retained;

    /** What was looked at last: a description asks for one column after the other. */
    private record Looked(String stream, List<KeptSegment> segments, Collection<ColumnCost> costs) {}

    @GuardedBy("this") private Optional<Looked> last = Optional.empty();

    /** @param plans of queries by their names */
    Notes(DatabaseCatalog catalog, Function<String, Optional<PlanNode>> plans, RetainedStreams retained) {
        this.catalog = catalog;
        this.plans = plans;
        this.retained = retained;
    }

    @Override
    public Optional<String> of(CatalogObject relation) {
        if (relation.kind() == ObjectKind.STREAM) {
            return Optional.ofNullable(relation.options().get("retention"))
                    .filter(retention -> isKept(relation))
                    .map(retention -> kept(relation, retention));
        }
        boolean isQuery =
                relation.kind() == ObjectKind.CONTINUOUS_QUERY || relation.kind() == ObjectKind.MATERIALIZED_VIEW;
        return isQuery && EdgeNeeds.isWanted(new Options(relation.options()))
                ? plans.apply(relation.name()).map(plan -> String.join("\n", places(relation, plan)))
                : Optional.empty();
    }

    // ---- queries
    // -----------------------------------------------------------------------------------------------------

    private List<String> places(CatalogObject query, PlanNode plan) {
        Optional<CatalogObject> partials = query.reads().stream()
                .flatMap(name -> catalog.object(name).stream())
                .filter(WindowsAtEdge::isStreamOfPartials)
                .filter(stream -> isRead(plan, stream.name()))
                .findFirst();
        return partials.map(
                        stream -> List.of(
                                WindowsAtEdge.describe(
                                        stream.options().getOrDefault("stream", ""), WindowsAtEdge.program(stream)),
                                "at the server: the sum of what devices made, and of rows that count in none of it; what is above"))
                .orElseGet(() -> EdgeNeeds.of(
                                plan, relation -> catalog.object(EdgeQueries.stream(catalog, relation, query.name())))
                        .describe("the query"));
    }

    /** Whether a plan reads a stream: what comes, or from the past on. */
    private static boolean isRead(PlanNode plan, String stream) {
        return plan instanceof PlanNode.Scan scan
                ? scan.relation().equals(stream)
                        || RetainedStreams.isOwnName(scan.relation())
                                && scan.relation().contains(" " + stream + " ")
                : plan.inputs().stream().anyMatch(input -> isRead(input, stream));
    }

    // ---- streams
    // -----------------------------------------------------------------------------------------------------

    private static boolean isKept(CatalogObject stream) {
        return stream.input().filter(input -> input.retained()).isPresent();
    }

    private String kept(CatalogObject stream, String retention) {
        List<KeptSegment> segments = retained.segments(stream.name());
        long rows =
                segments.stream().mapToLong(segment -> segment.file().rows()).sum();
        long bytes =
                segments.stream().mapToLong(segment -> segment.file().bytes()).sum();
        return "retention " + retention + ", " + form(stream)
                + (rows == 0
                        ? "; no segment yet"
                        : "; " + rows + " rows in " + segments.size() + " segments, " + bytes + " bytes: "
                                + number((double) bytes / rows, RoundingMode.HALF_EVEN) + " bytes a row");
    }

    private static String form(CatalogObject stream) {
        return stream.options().getOrDefault("retention.form", "exact");
    }

    @Override
    public Optional<String> of(CatalogObject relation, String column) {
        if (relation.kind() != ObjectKind.STREAM || !isKept(relation)) {
            return Optional.empty();
        }
        List<String> forms = costs(relation.name()).stream()
                .filter(cost -> cost.column().equals(column))
                .map(Notes::cost)
                .toList();
        return Optional.of(
                forms.isEmpty() ? "retention.form " + form(relation) + ", no segment yet" : String.join("; ", forms));
    }

    private synchronized Collection<ColumnCost> costs(String stream) {
        List<KeptSegment> segments = retained.segments(stream);
        if (last.filter(looked -> looked.stream.equals(stream) && looked.segments.equals(segments))
                .isEmpty()) {
            last = Optional.of(new Looked(stream, segments, retained.columns(stream, MOST_BYTES)));
        }
        return last.get().costs;
    }

    private static String cost(ColumnCost cost) {
        return cost.form() + ", " + number(8.0 * cost.bytes() / cost.rows(), RoundingMode.HALF_EVEN) + " bits a row"
                + (cost.error() > 0 ? ", off by " + number(cost.error(), RoundingMode.UP) + " at most" : "") + " ("
                + cost.why() + ")";
    }

    /** With three digits. */
    private static String number(double value, RoundingMode rounding) {
        return Double.isFinite(value)
                ? new BigDecimal(value)
                        .round(new MathContext(3, rounding))
                        .stripTrailingZeros()
                        .toPlainString()
                : String.valueOf(value);
    }
}
