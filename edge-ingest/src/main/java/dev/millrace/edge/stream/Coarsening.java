package dev.millrace.edge.stream;

import dev.millrace.edge.queue.Merging;
import dev.millrace.error.MillraceException;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.SketchSealer;
import dev.millrace.sketch.transform.SketchTransform;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Merges adjacent segments (dissertation §6.2.2: the sketch is linear), with numbers in bins four times as wide as the widest of them: what was within e
 * of a value is within 4 e of it. What is exact stays so. The segment says which bound holds. Stateless.
 */
public final class Coarsening implements Merging {
    private static final double WIDER = 4;
    private static final double MOST_BIN = 1L << 52;

    @Override
    public Optional<byte[]> merge(List<Readable> segments) {
        try {
            List<Sketch> sketches = new ArrayList<>();
            for (Readable each : segments) {
                Versions versions = new Versions();
                if (each.announcement().length > 0) {
                    versions.add(VersionCodec.decode(each.announcement()));
                }
                sketches.add(SegmentCodec.read(each.segment(), versions));
            }
            Sketch all = sketches.size() == 1 ? sketches.get(0) : SketchTransform.merge(sketches);
            List<byte[]> sealed = SketchSealer.seal(wider(all), Keep.QUERYABLE);
            return sealed.size() == 1 ? Optional.of(sealed.get(0)) : Optional.empty();
        } catch (MillraceException e) {
            return Optional.empty(); // of different schemas, or too large together: they stay as they are
        }
    }

    private static Sketch wider(Sketch sketch) {
        List<Column> columns = new ArrayList<>();
        SketchSchema schema = sketch.schema();
        for (int f = 0; f < schema.size(); f++) {
            Feature feature = schema.feature(f);
            Column column = sketch.column(f);
            if (feature.kind() == Feature.Kind.NUMBER && column.numbers().error() > 0) {
                Optional<Column> wider = wider(column);
                if (wider.isPresent()) {
                    column = wider.get();
                    double error = column.numbers().error();
                    schema = schema.withBound(f, Bound.absolute(error));
                }
            }
            columns.add(column);
        }
        return new Sketch(schema, sketch.times(), sketch.timeErrorTicks(), columns, Optional.empty());
    }

    /** Each value in the bin of width 6 e around it, whose middle is 3 e away at most; what is no finite number stays as it is. */
    private static Optional<Column> wider(Column column) {
        NumberSymbols numbers = column.numbers();
        double before = numbers.error();
        double step = 2 * (WIDER - 1) * before * (1 - 0x1p-24); // as middles are rounded
        int size = numbers.size();
        long[] bin = new long[size];
        boolean[] kept = new boolean[size];
        for (int rank = 0; rank < size; rank++) {
            double value = numbers.value(rank);
            double at = value / step;
            kept[rank] = !(Math.abs(at) < MOST_BIN);
            bin[rank] = kept[rank] ? 0 : Math.round(at);
        }
        if (!(step > 0) || Double.isInfinite(step)) {
            return Optional.empty();
        }
        long[] bins = LongStream.range(0, size)
                .filter(rank -> !kept[(int) rank])
                .map(rank -> bin[(int) rank])
                .sorted()
                .distinct()
                .toArray();
        List<Double> exact = new ArrayList<>();
        int[] target = new int[size + 1];
        for (int rank = 0; rank < size; rank++) {
            if (kept[rank]) {
                target[rank] = bins.length + exact.size();
                exact.add(numbers.value(rank));
            } else {
                target[rank] = java.util.Arrays.binarySearch(bins, bin[rank]);
            }
        }
        NumberSymbols to = new NumberSymbols(
                new Scale.Grid(step),
                WIDER * before,
                bins,
                exact.stream().mapToDouble(Double::doubleValue).toArray());
        target[size] = to.size();
        return Optional.of(column.translate(to, rank -> target[rank]));
    }
}
