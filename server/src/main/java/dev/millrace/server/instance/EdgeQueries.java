package dev.millrace.server.instance;

import dev.millrace.connector.Options;
import dev.millrace.edge.program.RowProgram;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.device.EdgeInlets;
import dev.millrace.server.planning.EdgeNeeds;
import dev.millrace.server.retention.RetainedStreams;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Tells streams of devices what standing queries need that run at the edge, whenever one is there, is another, or is gone. Under the definition lock. */
final class EdgeQueries implements DatabaseCatalog.Listener {
    private final DatabaseCatalog catalog;
    private final Function<String, Optional<PlanNode>> plans;
    private final EdgeInlets inlets;

    /** @param plans of queries by their names */
    EdgeQueries(DatabaseCatalog catalog, Function<String, Optional<PlanNode>> plans, EdgeInlets inlets) {
        this.catalog = catalog;
        this.plans = plans;
        this.inlets = inlets;
    }

    @Override
    public void defined(CatalogObject object) {
        boolean isQuery = switch (object.kind()) {
            case CONTINUOUS_QUERY, MATERIALIZED_VIEW -> true;
            case STREAM, TABLE, VIEW, SINK, QUERY_TEMPLATE, FUNCTION, INDEX, SCHEMA -> false;
        };
        if (isQuery && EdgeNeeds.isWanted(new Options(object.options()))) {
            inlets.needs(object.name(), programs(object.name()));
        }
    }

    private Map<String, RowProgram> programs(String query) {
        return plans.apply(query)
                .map(plan -> EdgeNeeds.of(plan, relation -> catalog.object(stream(catalog, relation, query)))
                        .programs())
                .orElse(Map.of());
    }

    /** A query that began in the past of a stream has a reader of its own. */
    static String stream(DatabaseCatalog catalog, String relation, String query) {
        boolean isOwn =
                RetainedStreams.isOwnName(relation) && catalog.object(relation).isEmpty();
        return isOwn ? RetainedStreams.streamOf(relation, query) : relation;
    }

    @Override
    public void removed(String name) {
        inlets.needs(name, Map.of());
    }
}
