package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.materialise.Observation;
import dev.millrace.sketch.materialise.Sampler;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.Collect;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.SketchSealer;
import dev.millrace.sketch.transform.SketchTransform;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What operations on sketches give is what the same operations on their rows give. */
@Tag("long")
class TransformTest {
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    /** A row as text: its time and all values. */
    private static List<String> rows(Sketch sketch) {
        return Materialisation.all().stream(sketch).map(TransformTest::text).toList();
    }

    private static String text(Observation row) {
        StringBuilder text = new StringBuilder().append(row.time());
        for (int f = 0; f < row.sketch().schema().size(); f++) {
            text.append('|');
            if (!row.isNull(f)) {
                text.append(
                        switch (row.sketch().schema().feature(f).kind()) {
                            case TEXT -> row.text(f);
                            case NUMBER -> Double.toString(row.number(f) + 0.0);
                            default -> Long.toString(row.whole(f));
                        });
            }
        }
        return text.toString();
    }

    @Test
    void operationsGiveTheRowsThatTheyWouldGiveOnRows() {
        System.out.println("sketch operations: seed " + SEED);
        for (int trial = 0; trial < 70; trial++) {
            long seed = SEED + trial;
            try {
                trial(new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("with -Dmillrace.sketch.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }

    /** Its merged values were sealed one after the other in equal widths, which could not be read again. */
    @Test
    void valuesOfDifferentScalesAreSealedAndRead() {
        trial(new Random(20_048_034_832_272L));
    }

    private static void trial(Random random) {
        RandomStreams stream = RandomStreams.make(random);
        Sketch sketch = stream.sketch();
        List<String> all = rows(sketch);
        List<Observation> observations = Materialisation.all().stream(sketch).toList();

        List<String> filtered = observations.stream()
                .filter(row ->
                        !row.isNull(0) && row.number(0) >= 0 && row.text(3).equals("c0"))
                .map(TransformTest::text)
                .toList();
        Optional<Sketch> kept = SketchTransform.filter(sketch, Condition.atLeast("a", 0), Condition.in("c", "c0"));
        assertEquals(filtered, kept.map(TransformTest::rows).orElse(List.of()));

        List<String> dealt = new ArrayList<>();
        List<Sketch> parts = SketchTransform.roundRobin(sketch, 3);
        for (int row = 0; row < sketch.rows(); row++) {
            dealt.add(rows(parts.get(row % 3)).get(row / 3));
            if (row > 30) {
                break; // the start tells
            }
        }
        assertEquals(all.subList(0, dealt.size()), dealt);
        assertEquals(sketch.rows(), parts.stream().mapToInt(Sketch::rows).sum());

        Map<Optional<Object>, Sketch> byKey = SketchTransform.partitionByKey(sketch, "c");
        byKey.forEach((key, part) -> assertEquals(
                observations.stream()
                        .filter(row -> key.equals(row.isNull(3) ? Optional.empty() : Optional.of(row.text(3))))
                        .map(TransformTest::text)
                        .toList(),
                rows(part)));

        long window = 1000L * (1 + random.nextInt(300));
        SketchTransform.partitionByTime(sketch, window)
                .forEach((start, part) -> assertEquals(
                        observations.stream()
                                .filter(row -> row.time() >= start && row.time() < start + window)
                                .map(TransformTest::text)
                                .toList(),
                        rows(part)));

        Sketch again = SegmentCodec.read(
                SketchSealer.seal(sketch, random.nextBoolean() ? Keep.QUERYABLE : Keep.ARCHIVAL)
                        .get(0),
                new Versions());
        assertEquals(all, rows(again));
        kept.ifPresent(some -> assertEquals(
                filtered,
                rows(SegmentCodec.read(SketchSealer.seal(some, Keep.QUERYABLE).get(0), new Versions()))));

        RandomStreams other = RandomStreams.make(random);
        Sketch merged = SketchTransform.merge(sketch, other.sketch());
        List<String> both = new ArrayList<>(all);
        both.addAll(rows(other.sketch()));
        assertEquals(both, rows(merged));
        assertEquals(
                both,
                rows(SegmentCodec.read(SketchSealer.seal(merged, Keep.QUERYABLE).get(0), new Versions())));

        Sketch projected = SketchTransform.project(sketch, "c", "a");
        assertEquals(2, projected.schema().size());
        assertEquals(
                observations.stream().map(row -> row.text(3)).toList(),
                Materialisation.all().stream(projected).map(row -> row.text(0)).toList());

        Sketch mapped = SketchTransform.map(sketch, "a", v -> v * 2 + 1, 2);
        for (int row = 0; row < Math.min(50, sketch.rows()); row++) {
            double was = observations.get(row).number(0);
            double is = new Observation(mapped, row).number(0);
            assertTrue(was != was ? is != is : is == was * 2 + 1);
        }
        Sketch renamed = SketchTransform.mapText(sketch, "c", text -> text.equals("c0") ? "c1" : text + "!");
        assertEquals(
                observations.stream()
                        .map(row -> row.isNull(3) ? "" : row.text(3).equals("c0") ? "c1" : row.text(3) + "!")
                        .toList(),
                Materialisation.all().stream(renamed)
                        .map(row -> row.isNull(3) ? "" : row.text(3))
                        .toList());
        batches(sketch, observations);
        modes(sketch, observations, all);
    }

    private static void batches(Sketch sketch, List<Observation> observations) {
        try (BufferAllocator allocator = new RootAllocator();
                Batch batch = Materialisation.all().batch(sketch, allocator)) {
            TimeStampMicroVector times = (TimeStampMicroVector) batch.column(0);
            Float8Vector a = (Float8Vector) batch.column(1);
            VarCharVector c = (VarCharVector) batch.column(4);
            assertEquals(sketch.rows(), batch.rowCount());
            for (int row = 0; row < sketch.rows(); row++) {
                Observation observation = observations.get(row);
                assertEquals(observation.time(), times.get(row));
                assertEquals(observation.isNull(0), a.isNull(row));
                assertEquals(observation.isNull(3), c.isNull(row));
                if (!a.isNull(row)) {
                    assertEquals(observation.number(0), a.get(row));
                }
                if (!c.isNull(row)) {
                    assertEquals(observation.text(3), new String(c.get(row), java.nio.charset.StandardCharsets.UTF_8));
                }
            }
        }
    }

    private static void modes(Sketch sketch, List<Observation> observations, List<String> all) {
        assertEquals(
                IntStream.range(0, all.size())
                        .filter(i -> i % 7 == 0)
                        .mapToObj(all::get)
                        .toList(),
                Materialisation.sample(Sampler.every(7)).stream(sketch)
                        .map(TransformTest::text)
                        .toList());
        List<Observation> ordered = new ArrayList<>(observations);
        ordered.sort(Comparator.comparingLong(Observation::time));
        assertEquals(
                ordered.stream().map(TransformTest::text).toList(),
                Materialisation.all().inTimeOrder().stream(sketch)
                        .map(TransformTest::text)
                        .toList());
        assertEquals(
                all.size(),
                Materialisation.all().stream(sketch)
                        .parallel()
                        .map(TransformTest::text)
                        .count());
        Map<String, Long> frequency = new java.util.HashMap<>();
        observations.forEach(row -> frequency.merge(withoutTime(row), 1L, Long::sum));
        long most = frequency.values().stream().mapToLong(Long::longValue).max().orElse(0);
        long least =
                frequency.values().stream().mapToLong(Long::longValue).min().orElse(0);
        assertEquals(most, Materialisation.topK(1).stream(sketch).count());
        assertEquals(least, Materialisation.bottomK(1).stream(sketch).count());
        assertEquals(
                all.size(),
                Materialisation.topK(Integer.MAX_VALUE).stream(sketch).count());
    }

    private static String withoutTime(Observation row) {
        String text = text(row);
        return text.substring(text.indexOf('|'));
    }

    @Test
    void collectedRowsAreASketchAgain() {
        RandomStreams stream = RandomStreams.make(new Random(3));
        List<Sketch> collected = Materialisation.all().stream(stream.sketch())
                .filter(row -> !row.isNull(0))
                .collect(Collect.toSketches(
                        RandomStreams.SCHEMA,
                        EncoderOptions.defaults().withSegmentRows(100),
                        (row, to) -> to.row(row.time()).number(0, row.number(0))));
        long expected = Materialisation.all().stream(stream.sketch())
                .filter(row -> !row.isNull(0))
                .count();
        assertEquals(expected, collected.stream().mapToInt(Sketch::rows).sum());
    }
}
