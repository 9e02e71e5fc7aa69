package dev.millrace.server.system;

import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.server.rows.RowBuilder;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Counts queries by what they have in common: those that share what runs them together, and those of a form that run by themselves. For one thread. */
final class QueryGroupRows {
    /** Queries of one fingerprint. */
    private static final class Counted {
        final String first;
        final String relations;
        long queries;
        long shared;
        long rowsIn;
        long rowsOut;
        long memoryBytes;

        Counted(StandingQuery query) {
            first = query.name();
            TreeSet<String> scanned = new TreeSet<>();
            for (PlanNode node : Subplans.of(query.plan())) {
                if (node instanceof Scan scan) {
                    scanned.add(scan.relation());
                }
            }
            relations = String.join(", ", scanned);
        }

        void add(QueryStatistics statistics) {
            rowsIn += statistics.rowsIn();
            rowsOut += statistics.rowsOut();
            memoryBytes += statistics.memoryBytes();
        }
    }

    private final Function<PlanNode, String> fingerprint;
    private final Map<String, Counted> counts = new TreeMap<>();
    private final Map<QueryGroup, Counted> ofGroups = new HashMap<>(); // whose members need no look at their plans

    QueryGroupRows(Function<PlanNode, String> fingerprint) {
        this.fingerprint = fingerprint;
    }

    /** @param queries how many of its users' it is */
    void add(StandingQuery query, long queries) {
        QueryGroup group = query.group().orElse(null);
        Counted counted = group == null ? null : ofGroups.get(group);
        if (counted == null) {
            counted = counts.computeIfAbsent(fingerprint.apply(query.plan()), first -> new Counted(query));
            if (group == null) {
                counted.add(query.statistics());
            } else {
                ofGroups.put(group, counted);
                counted.add(group.statistics());
            }
        }
        counted.queries += queries;
        counted.shared += group == null ? 0 : 1;
    }

    void addTo(RowBuilder rows) {
        counts.forEach((hash, counted) -> rows.row(
                hash,
                counted.queries,
                counted.first,
                counted.relations,
                counted.shared,
                counted.rowsIn,
                counted.rowsOut,
                counted.memoryBytes));
    }
}
