package dev.millrace.sketch.segment;

import dev.millrace.sketch.Sketch;
import java.util.ArrayList;
import java.util.List;

/**
 * What of a segment takes how many bits. What is not of the times or of a feature is its header, the version that it announces, and its end.
 *
 * @param sketch that it has
 * @param times of its times
 * @param features of each feature; where columns are stored together, an equal share of that
 * @param all of all of it
 */
public record SegmentCosts(Sketch sketch, long times, List<Long> features, long all) {
    public SegmentCosts {
        features = List.copyOf(features);
    }

    /** @param places where the times begin, and where they and the parts behind them end, of which the last is as long as the segment */
    static SegmentCosts of(Sketch sketch, List<Long> places, long all) {
        List<Long> features = new ArrayList<>();
        int size = sketch.schema().size();
        boolean isJoint = sketch.joint().isPresent();
        for (int f = 0; f < size; f++) {
            features.add(
                    isJoint
                            ? (all - places.get(1)) / size
                            : (f == size - 1 ? all : places.get(f + 2)) - places.get(f + 1));
        }
        return new SegmentCosts(sketch, places.get(1) - places.get(0), features, all);
    }
}
