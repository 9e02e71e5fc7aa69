package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.materialise.Observation;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SketchReceiver;
import dev.millrace.sketch.segment.SketchReceiver.Outcome;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Streams live longer than their encoders, and some of what these send is lost. */
class StreamLifeTest {
    private static final SketchSchema SCHEMA = SketchSchema.of(Feature.number("v", Bound.ofRange(.01)));
    private static final EncoderOptions OPTIONS = EncoderOptions.defaults().withSegmentRows(10);

    private final List<EncodedSegment> sent = new ArrayList<>();
    private final List<Sketch> read = new ArrayList<>();
    private final SketchReceiver reader =
            new SketchReceiver(new Versions(), 1000, 1 << 20, received -> read.add(received.sketch()));

    private StreamEncoder encoder(EncoderOptions options) {
        return new StreamEncoder(SCHEMA, options, sent::add);
    }

    private static void rows(StreamEncoder encoder, int from, int to, double scale) {
        for (int i = from; i < to; i++) {
            encoder.row(i * 1000L).number(0, i % 10 * scale);
        }
    }

    /** Numbers of versions began at 1 in every encoder: the second one's rows were read in bins of the first, a hundred times too narrow. */
    @Test
    void whatARestartedEncoderWritesIsNeverReadWithTheBinsOfTheOneBefore() {
        StreamEncoder first = encoder(OPTIONS);
        rows(first, 0, 20, 1);
        first.flush();
        StreamEncoder second = encoder(OPTIONS);
        rows(second, 20, 40, 100);
        second.flush();
        sent.remove(2); // the second one's announcement
        List<Outcome> outcomes =
                sent.stream().map(segment -> reader.accept(segment.bytes())).toList();
        assertEquals(List.of(Outcome.READ, Outcome.READ, Outcome.WAITS), outcomes);
        assertEquals(Outcome.ANNOUNCED, reader.accept(second.announcement().orElseThrow()));
        assertEquals(3, read.size());
        Observation last = Materialisation.all().iterator(read.get(2)).next();
        for (int row = 0; row < 10; row++) {
            assertEquals(row * 100, new Observation(last.sketch(), row).number(0), 9);
        }
        assertEquals(new SketchReceiver.Counts(3, 0, 0, 1, 0, 0), reader.counts());
    }

    /** Even if the few bits of the incarnation that a segment shows are the same by chance. */
    @Test
    void incarnationsThatLookAlikeAreToldApartByTheChecksum() {
        StreamEncoder first = encoder(OPTIONS.withIncarnations(() -> 0x1_1234L));
        rows(first, 0, 10, 1);
        first.flush();
        StreamEncoder second = encoder(OPTIONS.withIncarnations(() -> 0x2_1234L));
        rows(second, 10, 30, 100);
        second.flush();
        sent.remove(1);
        assertEquals(Outcome.READ, reader.accept(sent.get(0).bytes()));
        assertEquals(Outcome.DAMAGED, reader.accept(sent.get(1).bytes()));
        assertEquals(1, reader.counts().damaged());
    }

    /** Of 200 segments 191 were unreadable. */
    @Test
    void afterALostAnnouncementReadingGoesOnWithTheNextCompleteOne() {
        StreamEncoder encoder = encoder(OPTIONS.announceEvery(20));
        rows(encoder, 0, 2000, 1);
        encoder.flush();
        assertEquals(200, sent.size());
        for (EncodedSegment segment : sent.subList(1, 200)) {
            reader.accept(segment.bytes());
        }
        // Nothing changed meanwhile, so the complete announcement serves those that waited, too.
        assertEquals(new SketchReceiver.Counts(199, 0, 0, 1, 0, 0), reader.counts());
    }

    @Test
    void aLostChangeCostsTheSegmentsUntilTheNextCompleteAnnouncementAndTheyAreCounted() {
        StreamEncoder encoder = encoder(OPTIONS.announceEvery(20));
        for (int segment = 0; segment < 60; segment++) {
            rows(encoder, 10 * segment, 10 * segment + 10, segment / 10 + 1); // wider every tenth
        }
        encoder.flush();
        for (EncodedSegment segment : sent) {
            if (segment.sequence() != 10) { // the first change
                reader.accept(segment.bytes());
            }
        }
        assertEquals(10 + 40, reader.counts().read());
        assertEquals(9, reader.giveUp());
        assertEquals(9, reader.counts().unreadable());
    }

    @Test
    void anEncoderAnnouncesItselfWhenAskedTo() {
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 30, 1);
        encoder.announce();
        rows(encoder, 30, 40, 1);
        encoder.flush();
        for (EncodedSegment segment : sent.subList(1, 4)) {
            reader.accept(segment.bytes());
        }
        assertEquals(3, reader.counts().read());
    }

    /** After a change of the schema good segments were read as damaged. */
    @Test
    void segmentsOfAChangedSchemaAreReadOrWait() {
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 20, 1);
        encoder.alter(SketchSchema.of(Feature.text("kind"), Feature.number("v", Bound.absolute(.5))));
        for (int i = 20; i < 40; i++) {
            encoder.row(i * 1000L).text(0, "k" + i % 2).number(1, i);
        }
        encoder.flush();
        assertEquals(Outcome.READ, reader.accept(sent.get(0).bytes()));
        assertEquals(Outcome.WAITS, reader.accept(sent.get(3).bytes()));
        assertEquals(Outcome.READ, reader.accept(sent.get(2).bytes()));
        assertEquals(3, reader.counts().read());
        assertEquals("kind", read.get(2).schema().feature(0).name());
        assertEquals(2, encoder.version().orElseThrow().schemaVersion());
    }

    @Test
    void aBoundSetByHandIsWhatSegmentsTell() {
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 10, 1);
        encoder.flush();
        encoder.override(0, Bound.absolute(.25));
        rows(encoder, 10, 20, 1);
        encoder.flush();
        sent.forEach(segment -> reader.accept(segment.bytes()));
        assertEquals(Bound.ofRange(.01), read.get(0).schema().feature(0).bound());
        assertEquals(Bound.absolute(.25), read.get(1).schema().feature(0).bound());
        assertEquals(.25, read.get(1).column(0).numbers().error());
    }

    @Test
    void anEncoderGoesOnFromItsStateWithItsRangeAndTheRowsThatWaited() {
        StreamEncoder first = encoder(OPTIONS);
        rows(first, 0, 25, 100);
        byte[] state = first.state();
        assertEquals(2, sent.size());
        StreamEncoder second = StreamEncoder.restore(state, OPTIONS, sent::add);
        assertEquals(5, second.waitingRows());
        rows(second, 25, 30, 0);
        second.flush();
        assertEquals(0, sent.get(2).sequence());
        assertTrue(sent.get(2).incarnation() != sent.get(1).incarnation());
        reader.accept(sent.get(2).bytes());
        assertEquals(10, read.get(0).rows());
        assertEquals(9, read.get(0).column(0).numbers().error(), 1e-9); // of the range that the first one saw
        for (int cut = 0; cut < state.length; cut++) {
            byte[] damaged = state.clone();
            damaged[cut] ^= 1;
            MillraceException error =
                    assertThrows(MillraceException.class, () -> StreamEncoder.restore(damaged, OPTIONS, segment -> {}));
            assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
        }
    }

    @Test
    void theOpenSegmentCanBeLookedAtExactlyAndStaysOpen() {
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 17, .37);
        Sketch open = encoder.snapshot().orElseThrow();
        assertEquals(7, open.rows());
        assertEquals(16 % 10 * .37, new Observation(open, 6).number(0));
        assertEquals(7, encoder.waitingRows());
        encoder.flush();
        assertTrue(encoder.snapshot().isEmpty());
        assertEquals(2, sent.size());
    }

    @Test
    void whatComesTwiceOrDamagedIsDroppedAndCounted() {
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 30, 1);
        encoder.flush();
        assertEquals(Outcome.READ, reader.accept(sent.get(0).bytes()));
        assertEquals(Outcome.TWICE, reader.accept(sent.get(0).bytes()));
        byte[] damaged = sent.get(1).bytes().clone();
        damaged[damaged.length - 1] ^= 16;
        assertEquals(Outcome.DAMAGED, reader.accept(damaged));
        assertEquals(Outcome.READ, reader.accept(sent.get(2).bytes()));
        assertEquals(new SketchReceiver.Counts(2, 0, 1, 1, 0, 1), reader.counts());
    }

    @Test
    void whatWaitsIsBounded() {
        SketchReceiver small = new SketchReceiver(new Versions(), 2, 1 << 20, received -> read.add(received.sketch()));
        StreamEncoder encoder = encoder(OPTIONS);
        rows(encoder, 0, 60, 1);
        encoder.flush();
        sent.subList(1, 6).forEach(segment -> small.accept(segment.bytes()));
        assertEquals(2, small.counts().waiting());
        assertEquals(3, small.counts().unreadable());
        small.accept(sent.get(0).bytes());
        assertEquals(3, small.counts().read());
    }

    @Test
    void twoThingsUnderOneNumberAreNoticed() {
        EncoderOptions same = OPTIONS.withIncarnations(() -> 77);
        StreamEncoder first = encoder(same);
        rows(first, 0, 10, 1);
        first.flush();
        StreamEncoder second = encoder(same);
        rows(second, 0, 10, 5);
        second.flush();
        Versions versions = new Versions();
        SegmentCodec.read(sent.get(0).bytes(), versions);
        MillraceException error = assertThrows(
                MillraceException.class, () -> SegmentCodec.read(sent.get(1).bytes(), versions));
        assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
    }
}
