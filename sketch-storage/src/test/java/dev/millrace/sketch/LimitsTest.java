package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.materialise.Observation;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a reader would refuse is not written: it is said when rows are added, and the stream goes on. */
class LimitsTest {
    private static final SketchSchema TEXTS =
            SketchSchema.of(Feature.number("n", Bound.exact()), Feature.text("a"), Feature.text("b"));

    private final List<byte[]> segments = new ArrayList<>();
    private final StreamEncoder encoder = new StreamEncoder(
            TEXTS, EncoderOptions.defaults().withSegmentRows(100_000), segment -> segments.add(segment.bytes()));

    private List<Sketch> read() {
        encoder.flush();
        Versions versions = new Versions();
        return segments.stream()
                .map(bytes -> SegmentCodec.read(bytes, versions))
                .toList();
    }

    @Test
    void aSegmentIsClosedBeforeItsTextsAreMoreThanAReaderTakes() {
        String filler = "x".repeat(1 << 16);
        int rows = 300; // of 128 kB each
        for (int i = 0; i < rows; i++) {
            encoder.row(i).text(2, "same").number(0, i).text(1, i + filler).text(2, filler + i);
        }
        List<Sketch> sketches = read();
        assertTrue(sketches.size() > 1, sketches.size() + " segments");
        int row = 0;
        for (Sketch sketch : sketches) {
            for (int i = 0; i < sketch.rows(); i++, row++) {
                Observation back = new Observation(sketch, i);
                assertEquals(row, back.time());
                assertEquals(row, back.number(0));
                assertEquals(row + filler, back.text(1));
                assertEquals(filler + row, back.text(2));
            }
        }
        assertEquals(rows, row);
    }

    @Test
    void aRowThatNoSegmentHoldsIsRefusedAndTheStreamGoesOn() {
        encoder.row(1).text(1, "before");
        encoder.row(2).text(1, "with");
        String huge = "x".repeat(Limits.TEXT_BYTES + 1);
        MillraceException error = assertThrows(
                MillraceException.class, () -> encoder.row(3).text(1, "k").text(2, huge));
        assertEquals(SqlState.PROGRAM_LIMIT_EXCEEDED, error.sqlState());
        assertTrue(error.hint().isPresent());
        encoder.row(4).text(2, "after");
        List<Sketch> sketches = read();
        List<Long> times = new ArrayList<>();
        for (Sketch sketch : sketches) {
            for (int row = 0; row < sketch.rows(); row++) {
                times.add(sketch.times().at(row));
            }
        }
        assertEquals(List.of(1L, 2L, 4L), times);
    }

    /** It killed the stream: each later flush failed. */
    @Test
    void aTextThatIsNullIsRefusedAndTheStreamGoesOn() {
        MillraceException error =
                assertThrows(MillraceException.class, () -> encoder.row(1).text(1, null));
        assertEquals(SqlState.NULL_VALUE_NOT_ALLOWED, error.sqlState());
        encoder.row(2).text(1, "x");
        assertEquals(2, read().get(0).rows());
    }

    @Test
    void halfOfAPairOfSurrogatesIsRefusedInsteadOfBecomingAQuestionMark() {
        MillraceException error =
                assertThrows(MillraceException.class, () -> encoder.row(1).text(1, "a\ud83d"));
        assertEquals(SqlState.CHARACTER_NOT_IN_REPERTOIRE, error.sqlState());
        MillraceException after = assertThrows(
                MillraceException.class, () -> encoder.row(1).text(1, "\ude00").text(2, "b"));
        assertEquals(SqlState.CHARACTER_NOT_IN_REPERTOIRE, after.sqlState());
        encoder.row(2).text(1, "😀");
        assertEquals("😀", new Observation(read().get(0), 0).text(1));
    }

    @Test
    void aTextThatIsSetTwiceInARowIsTheLastOne() {
        encoder.row(1).text(1, "wrong").text(1, "right");
        encoder.row(2).text(1, "right");
        Sketch sketch = read().get(0);
        assertEquals("right", new Observation(sketch, 0).text(1));
        assertEquals(1, sketch.column(1).symbols().size());
    }

    /** Beyond 65,536 bins the encoder wrote what the reader refuses. */
    @Test
    void valuesThatNoBinIsLeftForAreKeptAsTheyAre() {
        Feature feature = Feature.number("v", Bound.absolute(1e-9)).withBinning(Binning.EQUAL_PROBABILITY);
        StreamEncoder narrow = new StreamEncoder(
                SketchSchema.of(feature),
                EncoderOptions.defaults().withSegmentRows(80_000),
                segment -> segments.add(segment.bytes()));
        Random random = new Random(1);
        double[] values = random.doubles(80_000).toArray();
        for (int i = 0; i < values.length; i++) {
            narrow.row(i).number(0, values[i]);
        }
        narrow.flush();
        Sketch sketch = SegmentCodec.read(segments.get(0), new Versions());
        for (int i = 0; i < values.length; i++) {
            assertEquals(values[i], new Observation(sketch, i).number(0), 1e-9);
        }
    }
}
