package dev.millrace.benchmarks.sketch;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** What is sent at a time from an ingester to a processor: the modes of the dissertation's figure 6.14. */
enum TransferMode {
    /** Each row by itself: eight bytes of time, eight of each value. */
    ONE_AT_A_TIME("one message at a time", 1),
    /** Rows of a segment, one behind the other, in the same form. */
    BATCHED("batches", Sizes.SEGMENT),
    /** Sketches of a segment each. */
    SKETCHED("sketches", Sizes.SEGMENT);

    private static final double SHARE = .025;

    private final String label;
    private final int rows;

    TransferMode(String label, int rows) {
        this.label = label;
        this.rows = rows;
    }

    String label() {
        return label;
    }

    /** A frame as it is sent, and how many rows it has. */
    record Frame(byte[] bytes, int rows) {}

    /** What an ingester has ready for each frame, before anything is measured. */
    interface Outgoing {
        int count();

        /** The frame, written as messages are; sketches came as they are from the edge. */
        Frame frame(int number);
    }

    Outgoing outgoing(TimeSeries series) {
        return this == SKETCHED ? sketches(series) : messages(series);
    }

    private static Outgoing sketches(TimeSeries series) {
        List<EncodedSegment> segments = Sizes.encode(
                series,
                Sizes.schema(series, SHARE, Binning.SMALLEST),
                EncoderOptions.defaults().withSegmentRows(Sizes.SEGMENT));
        List<Frame> frames = new ArrayList<>();
        int left = series.rows();
        for (EncodedSegment segment : segments) {
            int rows = Math.min(left, Sizes.SEGMENT);
            frames.add(new Frame(segment.bytes(), rows));
            left -= rows;
        }
        return new Outgoing() {
            @Override
            public int count() {
                return frames.size();
            }

            @Override
            public Frame frame(int number) {
                return frames.get(number);
            }
        };
    }

    private Outgoing messages(TimeSeries series) {
        return new Outgoing() {
            @Override
            public int count() {
                return (series.rows() + rows - 1) / rows;
            }

            @Override
            public Frame frame(int number) {
                int from = number * rows;
                int to = Math.min(series.rows(), from + rows);
                int features = series.features().size();
                ByteBuffer out = ByteBuffer.allocate((to - from) * Long.BYTES * (1 + features));
                for (int row = from; row < to; row++) {
                    out.putLong(series.micros()[row]);
                    for (double[] feature : series.features()) {
                        out.putDouble(feature[row]);
                    }
                }
                return new Frame(out.array(), to - from);
            }
        };
    }

    /** What reads frames of one stream and hands their rows to averages. One thread. */
    interface Incoming {
        void take(byte[] frame);
    }

    Incoming incoming(MovingAverages averages, BufferAllocator allocator) {
        int features = averages.features();
        if (this == SKETCHED) {
            Versions versions = new Versions();
            return frame -> {
                Sketch sketch = SegmentCodec.read(frame, versions);
                try (Batch batch = Materialisation.all().inTimeOrder().batch(sketch, allocator)) {
                    long[] columns = new long[features];
                    for (int f = 0; f < features; f++) {
                        columns[f] = batch.column(1 + f).getDataBufferAddress();
                    }
                    for (int row = 0; row < batch.rowCount(); row++) {
                        for (int f = 0; f < features; f++) {
                            averages.add(f, Memory.getDouble(columns[f] + 8L * row));
                        }
                        averages.endRow();
                    }
                }
            };
        }
        return frame -> {
            ByteBuffer in = ByteBuffer.wrap(frame);
            while (in.hasRemaining()) {
                in.getLong();
                double[] message = new double[features]; // what a processor is given
                for (int f = 0; f < features; f++) {
                    message[f] = in.getDouble();
                }
                for (int f = 0; f < features; f++) {
                    averages.add(f, message[f]);
                }
                averages.endRow();
            }
        };
    }
}
