package dev.millrace.server.planning;

import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The windows of a standing query with {@code run_at = 'edge'} that devices make: an aggregation over windows directly over a stream of devices becomes a
 * program for these, and another aggregation that adds their partials up, in the query's plan.
 *
 * <pre>
 *   WindowAggregate (count, sum, avg ..)          Calc (avg = sum / count ..)
 *     Calc (condition, columns)             -&gt;      WindowAggregate (sum, min, max of partials)
 *       Watermark                                     Calc (those that have rows)
 *         Scan (stream of devices)                      Watermark
 *                                                         Scan (stream of partials)
 * </pre>
 *
 * <p>Windows that overlap are made of panes: devices make the panes, and the server adds each up in all windows that it is in.
 *
 * <p>Not where there are several, a condition or a column that no device computes, arithmetic, which may overflow, DISTINCT or other aggregates.
 *
 * @param stream of devices that is read
 * @param partials the stream of partials
 * @param program for devices
 * @param columns of the stream of partials
 * @param plan that reads it
 */
public record WindowsAtEdge(String stream, String partials, WindowProgram program, Schema columns, PlanNode plan) {
    private static final String SUFFIX = "$windows";
    private static final String OTHER_SUFFIX = "$windows2"; // while a query is altered there are two

    /** What was found: windows for devices, or why there are none though the query has some. */
    public record Finding(Optional<WindowsAtEdge> windows, String whyNot) {
        /** None. */
        public static Finding none(String why) {
            return new Finding(Optional.empty(), why);
        }
    }

    /** The names that the stream of partials of a query may have. */
    public static List<String> streamsOf(String query) {
        return List.of(query + SUFFIX, query + OTHER_SUFFIX);
    }

    /** What runs where, for people. */
    public List<String> describe() {
        return List.of(
                describe(stream, program),
                "at the server: the plan above, but that its windows add up what devices made, and rows that count in none of it");
    }

    /** What a program has devices do, for people. */
    public static String describe(String stream, WindowProgram program) {
        StringBuilder text = new StringBuilder("at the edge, of each row of " + stream + ": ");
        program.condition().ifPresent(condition -> text.append("whether " + EdgeTerms.text(condition) + "; "));
        text.append("windows of " + program.sizeMicros() + " us of " + program.time() + ", by ("
                + program.keys().stream().map(EdgeTerms::text).collect(Collectors.joining(", ")) + "): count");
        for (WindowProgram.Aggregate aggregate : program.aggregates()) {
            text.append(", " + aggregate.function().name().toLowerCase(Locale.ROOT) + "("
                    + EdgeTerms.text(aggregate.argument()) + ")"
                    + aggregate
                            .filter()
                            .map(filter -> " where " + EdgeTerms.text(filter))
                            .orElse(""));
        }
        return text.toString();
    }

    /** Whether a relation is a stream of partials that the server makes. */
    public static boolean isStreamOfPartials(CatalogObject object) {
        return object.options().containsKey(WindowProgram.STREAM_OPTION);
    }

    /** Whether a name is that of the stream of partials of a query that is among others. */
    public static boolean isStreamOfQuery(String relation, Set<String> others) {
        int suffix = relation.lastIndexOf(SUFFIX);
        return suffix > 0
                && others.contains(relation.substring(0, suffix))
                && streamsOf(relation.substring(0, suffix)).contains(relation);
    }

    /** The program whose partials a stream of them takes. */
    public static WindowProgram program(CatalogObject partials) {
        return WindowProgram.parse(Objects.requireNonNull(partials.options().get(WindowProgram.STREAM_OPTION)));
    }

    /**
     * Looks for windows that devices can make.
     *
     * @param partials what the stream of them is called
     * @param id of the program, unlike that of any other
     * @param objects what scans read
     */
    public static Finding find(
            PlanNode plan, String partials, String id, Function<String, Optional<CatalogObject>> objects) {
        return find(plan, WindowCut.making(partials, id), objects);
    }

    /**
     * Looks for windows that add up of what devices make already, for another query: of the same rows or those of some groups, by some of the keys, as long or
     * several times as long.
     *
     * @param partials the stream of them
     */
    public static Finding over(
            PlanNode plan, CatalogObject partials, Function<String, Optional<CatalogObject>> objects) {
        return find(plan, WindowCut.over(partials), objects);
    }

    private static Finding find(PlanNode plan, WindowCut cut, Function<String, Optional<CatalogObject>> objects) {
        List<PlanNode.WindowAggregate> tops = new ArrayList<>();
        collect(plan, objects, tops);
        if (tops.isEmpty()) {
            return Finding.none("");
        }
        if (tops.size() > 1) {
            return Finding.none("it has several aggregations over windows");
        }
        try {
            return new Finding(Optional.of(cut.cut(plan, tops.get(0), objects)), "");
        } catch (WindowCut.NotThere e) {
            return Finding.none(e.why);
        } catch (MillraceException e) { // a program that is too large
            return Finding.none(String.valueOf(e.getMessage()));
        }
    }

    private static void collect(
            PlanNode node, Function<String, Optional<CatalogObject>> objects, List<PlanNode.WindowAggregate> tops) {
        if (node instanceof PlanNode.WindowAggregate aggregate
                && aggregate.phase() != Phase.PARTIAL
                && scanOf(aggregate)
                        .flatMap(scan -> objects.apply(scan.relation()))
                        .filter(EdgeNeeds::isOfDevices)
                        .isPresent()) {
            if (!tops.contains(aggregate)) {
                tops.add(aggregate);
            }
            return;
        }
        node.inputs().forEach(input -> collect(input, objects, tops));
    }

    /** What is below an aggregation, if rows come there one by one. */
    static Optional<PlanNode.Scan> scanOf(PlanNode.WindowAggregate top) {
        PlanNode at = top;
        while (at == top
                || at instanceof PlanNode.Calc
                || at instanceof PlanNode.Watermark
                || at instanceof PlanNode.Exchange
                || at instanceof PlanNode.WindowAggregate below && below.phase() == Phase.PARTIAL) {
            at = at.inputs().get(0);
        }
        return at instanceof PlanNode.Scan scan ? Optional.of(scan) : Optional.empty();
    }
}
