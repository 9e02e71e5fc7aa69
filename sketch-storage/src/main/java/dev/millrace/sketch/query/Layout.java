package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.ArrayList;
import java.util.List;

/** How a question lies over the features of a schema, which is the same for all sketches of it. Immutable. */
final class Layout {
    private static final int NONE = -1;

    private final SketchSchema schema;
    private final List<Integer> asked = new ArrayList<>(); // aggregated first, then keys
    private final int[] positions; // of each aggregate's feature among those; NONE for a count of rows
    private final int aggregated;
    private final boolean alone;

    /** @throws MillraceException if the schema has no such features, or not of a kind that the question is for */
    Layout(SketchQuery query, SketchSchema schema) {
        this.schema = schema;
        List<Aggregate> aggregates = query.aggregates();
        positions = new int[aggregates.size()];
        for (int a = 0; a < positions.length; a++) {
            positions[a] = NONE;
            if (!aggregates.get(a).feature().isEmpty()) {
                int feature = schema.indexOf(aggregates.get(a).feature());
                checkNumber(aggregates.get(a), schema.feature(feature));
                if (!asked.contains(feature)) {
                    asked.add(feature);
                }
                positions[a] = asked.indexOf(feature);
            }
        }
        aggregated = asked.size();
        for (String key : query.keys()) {
            asked.add(schema.indexOf(key));
        }
        alone = query.windows().isEmpty()
                && asked.size() == 1
                && aggregated == 1
                && query.conditions().stream().allMatch(this::isOfTheOne);
    }

    private static void checkNumber(Aggregate aggregate, Feature feature) {
        boolean any =
                aggregate.function() == Aggregate.Function.COUNT || aggregate.function() == Aggregate.Function.DISTINCT;
        if (!any && feature.kind() == Feature.Kind.TEXT) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    aggregate.function() + " needs numbers, and " + feature.name() + " is " + feature.type());
        }
    }

    private boolean isOfTheOne(Condition condition) {
        if (condition instanceof Condition.OfFeature ofFeature) {
            return schema.indexOf(ofFeature.feature()) == asked.get(0);
        }
        if (condition instanceof Condition.Not not) {
            return isOfTheOne(not.condition());
        }
        if (condition instanceof Condition.And and) {
            return and.conditions().stream().allMatch(this::isOfTheOne);
        }
        return condition instanceof Condition.Or or && or.conditions().stream().allMatch(this::isOfTheOne);
    }

    boolean isOf(SketchSchema other) {
        return schema == other || schema.equals(other); // mostly the same one
    }

    /** Whether how often the symbols of one feature occur is all that the answer takes. */
    boolean isAlone() {
        return alone;
    }

    /** The features asked about by their places in the schema, those of aggregates first, then those of keys. */
    List<Integer> asked() {
        return asked;
    }

    /** How many of them are aggregated. */
    int aggregated() {
        return aggregated;
    }

    /** How many aggregates there are. */
    int aggregates() {
        return positions.length;
    }

    /** Whether an aggregate is of a feature, and not a count of rows. */
    boolean hasFeature(int aggregate) {
        return positions[aggregate] != NONE;
    }

    /** The place of an aggregate's feature among those asked about. */
    int position(int aggregate) {
        return positions[aggregate];
    }

    Feature feature(int aggregate) {
        return schema.feature(asked.get(positions[aggregate]));
    }
}
