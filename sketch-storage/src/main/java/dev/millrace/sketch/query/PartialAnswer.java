package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.schema.Feature;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a question as far as some sketches went: of segments of one stream or of several, on one thread or, combined, on
 * several. Its size is that of the groups and of what each aggregate needs to know, and not of the rows. Not thread-safe.
 */
public final class PartialAnswer {
    private static final int MOST_GROUPS = 1 << 20;

    private final SketchQuery query;
    private final TreeMap<Long, Map<List<Optional<Object>>, Group>> windows = new TreeMap<>();
    private final Feature.@Nullable Kind[] kinds; // of each aggregate's feature; null before the first sketch
    private final Optional<Group> only; // where there are neither keys nor windows
    private final Cells cells =
            new Cells(1); // of the sketch that is looked at, where one feature is all that is asked about
    private @Nullable Layout layout; // of the last sketch's schema; null before the first
    private int groups;

    private static final class Group {
        final RowCounts rows = new RowCounts();
        final @Nullable Partial[] partials; // null for a count of rows

        Group(int aggregates) {
            partials = new Partial[aggregates];
        }
    }

    PartialAnswer(SketchQuery query) {
        this.query = query;
        this.kinds = new Feature.Kind[query.aggregates().size()];
        this.only = query.keys().isEmpty() && query.windows().isEmpty()
                ? Optional.of(new Group(kinds.length))
                : Optional.empty();
    }

    /**
     * Takes the rows of a sketch.
     *
     * @return this
     * @throws MillraceException if it has no such features, or they are of another kind than in the sketches before
     */
    public PartialAnswer add(Sketch sketch) {
        Layout known = query.layout(sketch.schema());
        if (known != layout) {
            learnKinds(known);
            layout = known;
        }
        if (known.isAlone()) {
            addAlone(sketch, known);
        } else {
            new SketchExecution(query, known, sketch, this).run();
        }
        return this;
    }

    private void learnKinds(Layout of) {
        for (int a = 0; a < kinds.length; a++) {
            if (of.hasFeature(a)) {
                Feature feature = of.feature(a);
                if (kinds[a] != null && kinds[a] != feature.kind()) {
                    throw MillraceException.user(
                            SqlState.DATATYPE_MISMATCH,
                            feature.name() + " is " + feature.type() + " here, and was of another kind before");
                }
                kinds[a] = feature.kind();
            }
        }
    }

    /** From how often each symbol of the one feature occurs. */
    private void addAlone(Sketch sketch, Layout known) {
        int feature = known.asked().get(0);
        Column column = sketch.column(feature);
        int[] counts = column.counts();
        byte[] truths = Filter.truths(sketch, query.conditions(), feature);
        cells.clear();
        for (int rank = 0; rank < counts.length; rank++) {
            int verdict = truths.length == 0 ? Condition.ALL : truths[rank] & Condition.ALL;
            if (verdict != 0 && counts[rank] > 0) {
                int at = cells.add(counts[rank], verdict);
                cells.ranks[at] = rank;
            }
        }
        if (cells.count > 0) {
            add(0, List.of(), cells, CellValues.of(known, sketch));
        }
    }

    private Group group(long window, List<Optional<Object>> keys) {
        if (only.isPresent()) {
            return only.get();
        }
        Map<List<Optional<Object>>, Group> ofWindow = windows.computeIfAbsent(window, w -> new LinkedHashMap<>());
        Group group = ofWindow.get(keys);
        if (group == null) {
            if (++groups > MOST_GROUPS) {
                throw MillraceException.user(
                                SqlState.PROGRAM_LIMIT_EXCEEDED,
                                "the answer has more than " + MOST_GROUPS + " groups and windows")
                        .withHint("Ask for fewer at a time, by a condition on time.");
            }
            group = new Group(kinds.length);
            ofWindow.put(keys, group);
        }
        return group;
    }

    /** Takes the cells of one group; {@code values} by aggregate, null for a count of rows. */
    void add(long window, List<Optional<Object>> keys, Cells cells, @Nullable CellValues[] values) {
        Group group = group(window, keys);
        for (int i = 0; i < cells.count; i++) {
            group.rows.add(cells.verdicts[i], cells.weights[i]);
        }
        for (int a = 0; a < values.length; a++) {
            CellValues mine = values[a];
            if (mine != null) {
                partial(group, a).add(cells, mine);
            }
        }
    }

    private Partial partial(Group group, int aggregate) {
        Partial partial = group.partials[aggregate];
        if (partial == null) {
            Feature.Kind kind = kinds[aggregate];
            partial = Partial.of(
                    query.aggregates().get(aggregate), kind != Feature.Kind.NUMBER, kind == Feature.Kind.TEXT);
            group.partials[aggregate] = partial;
        }
        return partial;
    }

    /**
     * Takes what another answer to the same question has.
     *
     * @return this
     */
    public PartialAnswer combine(PartialAnswer other) {
        if (!other.query.equals(query)) {
            throw MillraceException.internal("answers to different questions cannot be combined");
        }
        for (int a = 0; a < kinds.length; a++) {
            if (kinds[a] != null && other.kinds[a] != null && kinds[a] != other.kinds[a]) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        query.aggregates().get(a).feature() + " is of different kinds in what is to be combined");
            }
            kinds[a] = kinds[a] == null ? other.kinds[a] : kinds[a];
        }
        other.only.ifPresent(theirs -> combine(group(0, List.of()), theirs));
        other.windows.forEach(
                (window, ofWindow) -> ofWindow.forEach((keys, theirs) -> combine(group(window, keys), theirs)));
        return this;
    }

    private void combine(Group group, Group theirs) {
        group.rows.add(theirs.rows);
        for (int a = 0; a < kinds.length; a++) {
            Partial partial = theirs.partials[a];
            if (partial != null) {
                partial(group, a).combine(partial);
            }
        }
    }

    /** The answers, by window; groups within one are in the order in which they were met. */
    public List<SketchQuery.Row> rows() {
        List<SketchQuery.Row> rows = new ArrayList<>();
        only.ifPresent(
                group -> rows.add(new SketchQuery.Row(0, 0, List.of(), estimates(group), Estimate.Presence.CERTAIN)));
        windows.forEach((window, ofWindow) -> {
            long end = query.windows().map(w -> w.end(window)).orElse(0L);
            ofWindow.forEach((keys, group) -> {
                rows.add(new SketchQuery.Row(window, end, keys, estimates(group), group.rows.presence()));
            });
        });
        return rows;
    }

    private List<Estimate> estimates(Group group) {
        List<Estimate> estimates = new ArrayList<>(kinds.length);
        for (int a = 0; a < kinds.length; a++) {
            Aggregate aggregate = query.aggregates().get(a);
            Partial partial = group.partials[a];
            estimates.add(
                    aggregate.feature().isEmpty()
                            ? group.rows.count()
                            : partial != null
                                    ? partial.estimate()
                                    : isCount(aggregate) ? Estimate.count(0, 0, 0) : Estimate.NONE);
        }
        return estimates;
    }

    private static boolean isCount(Aggregate aggregate) {
        return aggregate.function() == Aggregate.Function.COUNT || aggregate.function() == Aggregate.Function.DISTINCT;
    }
}
