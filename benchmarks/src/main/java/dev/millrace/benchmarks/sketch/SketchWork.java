package dev.millrace.benchmarks.sketch;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.query.Aggregate;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.query.PartialAnswer;
import dev.millrace.sketch.query.SketchQuery;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** What is measured, each from stored bytes to the answer: nothing is kept from one call to the next. */
final class SketchWork {
    private static final double SHARE = .01;

    final TimeSeries series;
    final SketchSchema schema;
    final EncoderOptions options;
    final List<byte[]> segments;
    private final SketchQuery query;
    private final double threshold;

    SketchWork(TimeSeries series, EncoderOptions options) {
        this.series = series;
        this.options = options;
        this.schema = Sizes.schema(series, SHARE, Binning.SMALLEST);
        this.segments = Sizes.encode(series, schema, options).stream()
                .map(EncodedSegment::bytes)
                .toList();
        double[] range = TimeSeries.range(series.features().get(0));
        this.threshold = (range[0] + range[1]) / 2;
        this.query = SketchQuery.select(
                        Aggregate.count(), Aggregate.sum("f0"), Aggregate.avg("f0"), Aggregate.max("f0"))
                .where(Condition.atLeast("f0", threshold));
    }

    /** Values, times not counted. */
    long values() {
        return (long) series.rows() * series.features().size();
    }

    long encode() {
        long bytes = 0;
        for (EncodedSegment segment : Sizes.encode(series, schema, options)) {
            bytes += segment.bytes().length;
        }
        return bytes;
    }

    /** Into Arrow, times included. */
    long materialise(BufferAllocator allocator) {
        Versions versions = new Versions();
        long rows = 0;
        for (byte[] segment : segments) {
            try (Batch batch = Materialisation.all().batch(SegmentCodec.read(segment, versions), allocator)) {
                rows += batch.rowCount();
            }
        }
        return rows;
    }

    /** Count, sum, average and maximum of the first feature above its middle, in the sketch. */
    double inSketch() {
        Versions versions = new Versions();
        double sum = 0;
        for (byte[] segment : segments) {
            sum += query.run(SegmentCodec.read(segment, versions))
                    .get(0)
                    .estimates()
                    .get(0)
                    .value();
        }
        return sum;
    }

    /** The same of all segments together, in one answer. */
    double inSketchTogether() {
        Versions versions = new Versions();
        PartialAnswer answer = query.begin();
        for (byte[] segment : segments) {
            answer.add(SegmentCodec.read(segment, versions));
        }
        return answer.rows().get(0).estimates().get(0).value();
    }

    /** The same over the materialised column, by a loop over its buffer. */
    double materialiseThenCompute(BufferAllocator allocator) {
        Versions versions = new Versions();
        double result = 0;
        for (byte[] segment : segments) {
            Sketch sketch = SegmentCodec.read(segment, versions);
            try (Batch batch = Materialisation.all().batch(sketch, allocator)) {
                long data = batch.column(1).getDataBufferAddress();
                long count = 0;
                double sum = 0;
                double max = Double.NEGATIVE_INFINITY;
                for (int i = 0; i < batch.rowCount(); i++) {
                    double value = Memory.getDouble(data + 8L * i);
                    if (value >= threshold) {
                        count++;
                        sum += value;
                        max = Math.max(max, value);
                    }
                }
                result += count + (sum > max ? 0 : 1e-300);
            }
        }
        return result;
    }
}
