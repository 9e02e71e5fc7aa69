package dev.millrace.server.planning;

import dev.millrace.connector.Source;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Which relations have rows that were computed of sketches, or came as sketches, and were kept without how far they may be off. Stateless. */
public final class SketchedPasts {
    private static final String DEVICES = "edge"; // the connector of streams whose rows devices send in sketches
    private static final String FILES = "sketch";

    private final Function<String, Optional<CatalogObject>> objects;

    public SketchedPasts(Function<String, Optional<CatalogObject>> objects) {
        this.objects = objects;
    }

    /** Whether rows of a relation may be off, and nobody knows how far. */
    boolean isIn(String name) {
        return isIn(name, new HashSet<>());
    }

    private boolean isIn(String name, Set<String> seen) {
        Optional<CatalogObject> object = objects.apply(name);
        if (object.isEmpty() || !seen.add(name)) {
            return false;
        }
        Optional<StreamInput> input = object.get().input();
        boolean isDerived = input.filter(StreamInput::isDerived).isPresent();
        if (input.isPresent() && !isDerived) {
            return isUnknown(input.get());
        }
        boolean isStanding = isDerived
                || object.get().kind() == ObjectKind.CONTINUOUS_QUERY
                || object.get().kind() == ObjectKind.MATERIALIZED_VIEW;
        return isStanding
                        && readsSketches(
                                Optional.ofNullable(object.get().options().get("start")),
                                object.get().reads())
                || object.get().reads().stream().anyMatch(read -> isIn(read, seen));
    }

    /** Sources with generated columns do not say how far those of the files are off. */
    private static boolean isUnknown(StreamInput input) {
        return input.connector().equals(DEVICES)
                || input.connector().equals(FILES)
                        && input.source().flatMap(Source::condensing).isEmpty();
    }

    /** Whether any of some relations has such rows. */
    public boolean areKeptWithoutBounds(Set<String> relations) {
        return relations.stream().anyMatch(this::isIn);
    }

    private boolean readsSketches(Optional<String> start, Set<String> reads) {
        boolean isLive = !StandingRules.isInPast(start);
        return reads.stream().anyMatch(read -> hasSketches(read, isLive, new HashSet<>()));
    }

    private boolean hasSketches(String name, boolean isLive, Set<String> seen) {
        Optional<CatalogObject> object = objects.apply(name);
        if (object.isEmpty() || !seen.add(name)) {
            return false;
        }
        Optional<StreamInput> input = object.get().input();
        boolean ofPast = !isLive && input.flatMap(StreamInput::sketched).isPresent();
        return ofPast
                || input.flatMap(StreamInput::source)
                        .flatMap(Source::condensing)
                        .isPresent()
                || object.get().kind() == ObjectKind.VIEW
                        && object.get().reads().stream().anyMatch(read -> hasSketches(read, isLive, seen));
    }
}
