package dev.millrace.sketch.schema;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A stream of observations: a time and features.
 *
 * @param timeName the name of the time
 * @param ticksPerSecond what times count; 1,000,000 (microseconds) wherever they become SQL timestamps
 * @param timeBoundTicks how far a time may be off; 0 is exact
 * @param features at least one, at most {@link #MOST_FEATURES}
 */
public record SketchSchema(String timeName, long ticksPerSecond, long timeBoundTicks, List<Feature> features) {
    public static final int MOST_FEATURES = 4096;
    public static final int MOST_NAME_BYTES = 1 << 16;
    public static final long MICROS_PER_SECOND = 1_000_000;

    public SketchSchema {
        features = List.copyOf(features);
        if (features.isEmpty() || features.size() > MOST_FEATURES) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a sketch has 1 to " + MOST_FEATURES + " features, not " + features.size());
        }
        if (ticksPerSecond < 1 || timeBoundTicks < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "ticks per second must be at least 1 and the time bound at least 0, not " + ticksPerSecond + " and "
                            + timeBoundTicks);
        }
        checkName(timeName);
        Set<String> names = new HashSet<>();
        for (Feature feature : features) {
            checkName(feature.name());
            if (!names.add(feature.name())) {
                throw MillraceException.user(SqlState.DUPLICATE_COLUMN, "two features are called " + feature.name());
            }
        }
    }

    private static void checkName(String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_NAME_BYTES) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a name has at most " + MOST_NAME_BYTES + " bytes, and " + name.substring(0, 20) + ".. has "
                            + bytes);
        }
    }

    /** Exact times in microseconds, called {@code time}. */
    public static SketchSchema of(Feature... features) {
        return new SketchSchema("time", MICROS_PER_SECOND, 0, Arrays.asList(features));
    }

    /** The same with times that may be this many ticks off. */
    public SketchSchema withTimeBound(long ticks) {
        return new SketchSchema(timeName, ticksPerSecond, ticks, features);
    }

    /** The same with another bound of one feature. */
    public SketchSchema withBound(int feature, Bound bound) {
        List<Feature> changed = new ArrayList<>(features);
        changed.set(feature, features.get(feature).withBound(bound));
        return new SketchSchema(timeName, ticksPerSecond, timeBoundTicks, changed);
    }

    public int size() {
        return features.size();
    }

    public Feature feature(int index) {
        return features.get(index);
    }

    /**
     * The feature of this name.
     *
     * @throws MillraceException if there is none
     */
    public int indexOf(String name) {
        for (int i = 0; i < features.size(); i++) {
            if (features.get(i).name().equals(name)) {
                return i;
            }
        }
        throw MillraceException.user(SqlState.UNDEFINED_COLUMN, "no feature is called " + name)
                .withHint("There are: "
                        + String.join(", ", features.stream().map(Feature::name).toList()));
    }
}
