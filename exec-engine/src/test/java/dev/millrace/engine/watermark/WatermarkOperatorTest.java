package dev.millrace.engine.watermark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Lateness against its definition, window by window, row by row. */
@Tag("long")
final class WatermarkOperatorTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("ts", DataType.TIMESTAMP, true),
            new Field("end", DataType.TIMESTAMP, false),
            new Field("text", DataType.TEXT, true),
            new Field("flag", DataType.BOOLEAN, true));

    static List<Optional<WindowSpec>> specs() {
        return List.of(
                Optional.empty(),
                Optional.of(new WindowSpec.Tumble(10)),
                Optional.of(new WindowSpec.Hop(3, 10)),
                Optional.of(new WindowSpec.Hop(10, 10)),
                Optional.of(new WindowSpec.Cumulate(5, 20)),
                Optional.of(new WindowSpec.Tumble(10, 7)),
                Optional.of(new WindowSpec.Hop(3, 10, 2)),
                Optional.of(new WindowSpec.Cumulate(5, 20, 13)),
                Optional.of(new WindowSpec.Session(4)),
                Optional.of(new WindowSpec.Attached(0, 1)));
    }

    /** By the words of {@link PlanNode.Watermark}: has a window of the row ended at or before the watermark? */
    private static boolean isLate(Optional<WindowSpec> spec, long time, long attachedEnd, long watermark) {
        if (spec.isEmpty() || watermark == Operator.NO_WATERMARK) {
            return false;
        }
        long firstEnd = Long.MAX_VALUE;
        for (long start = time - 50; start <= time; start++) {
            for (long end = time + 1; end <= time + 50; end++) {
                if (isWindow(spec.get(), start, end)) {
                    firstEnd = Math.min(firstEnd, end);
                }
            }
        }
        if (spec.get() instanceof WindowSpec.Session session) {
            firstEnd = time + session.gapMicros();
        }
        if (spec.get() instanceof WindowSpec.Attached) {
            firstEnd = attachedEnd;
        }
        return firstEnd <= watermark;
    }

    private static boolean isWindow(WindowSpec spec, long start, long end) {
        if (spec instanceof WindowSpec.Tumble tumble) {
            return Math.floorMod(start, tumble.sizeMicros()) == tumble.offsetMicros()
                    && end - start == tumble.sizeMicros();
        }
        if (spec instanceof WindowSpec.Hop hop) {
            return Math.floorMod(start, hop.slideMicros()) == hop.offsetMicros() && end - start == hop.sizeMicros();
        }
        if (spec instanceof WindowSpec.Cumulate cumulate) {
            return Math.floorMod(start, cumulate.sizeMicros()) == cumulate.offsetMicros()
                    && end - start <= cumulate.sizeMicros()
                    && (end - start) % cumulate.stepMicros() == 0;
        }
        return false;
    }

    @ParameterizedTest
    @MethodSource("specs")
    void aRowIsLateByTheRowsBeforeItHoweverTheyAreCut(Optional<WindowSpec> spec) {
        for (long seed = 1; seed <= 8; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            long delay = random.nextInt(12);
            PlanNode.Watermark node = new PlanNode.Watermark(
                    new PlanNode.Scan("s", List.of(0, 1, 2, 3), List.of(), SCHEMA), 0, delay, 0, spec);
            OperatorHarness harness = new OperatorHarness(() -> new WatermarkOperator(node), SCHEMA)
                    .appendOnlyInput()
                    .output(SCHEMA);
            if (seed == 2 && spec.isEmpty()) {
                harness.keepsFormat("watermark");
            }
            ZSet kept = new ZSet();
            ZSet late = new ZSet();
            long latest = Long.MIN_VALUE;
            long around = -30;
            boolean nulls = seed % 2 == 0;
            for (int i = 0; i < 300; i++) {
                around += random.nextInt(4) == 0 ? random.nextInt(5) : 0;
                long time = around - random.nextInt(25);
                long end = Math.floorDiv(time, 10) * 10 + 10;
                boolean isNull = nulls && random.nextInt(10) == 0;
                Row row = Row.of(
                        isNull ? null : time, end, i % 5 == 0 ? null : "row " + i, i % 3 == 0 ? null : i % 2 == 0);
                harness.rows(row);
                long watermark = latest == Long.MIN_VALUE ? Operator.NO_WATERMARK : latest - delay;
                if (isNull ? spec.isPresent() : isLate(spec, time, end, watermark)) {
                    late.add(row, 1);
                } else {
                    kept.add(row, 1);
                    latest = isNull ? latest : Math.max(latest, time);
                }
                if (random.nextInt(40) == 0) {
                    harness.epochEnd();
                }
            }
            harness.expect(kept, late);
        }
    }

    @Test
    void theLeastWatermarkIgnoresIdleInputsAndNeverGoesBack() {
        LowWatermark low = new LowWatermark(2);
        assertEquals(false, low.advance(0, 10));
        assertEquals(true, low.advance(1, 5));
        assertEquals(5, low.micros());
        assertEquals(true, low.idle(1));
        assertEquals(10, low.micros());
        assertEquals(false, low.advance(1, 7)); // back again, behind what was promised
        assertEquals(10, low.micros());
        assertEquals(false, low.advance(0, 20));
        assertEquals(true, low.advance(1, 12));
        assertEquals(12, low.micros());
        low.idle(0);
        low.idle(1);
        assertEquals(true, low.isIdle());
        assertEquals(12, low.micros());
    }

    /** However many there were and are: the rows of the instance that is behind may come to any of those that go on. */
    @Test
    void severalInstancesGoOnFromTheOneThatIsBehind() {
        PlanNode.Watermark node = new PlanNode.Watermark(
                new PlanNode.Scan("s", List.of(0, 1, 2, 3), List.of(), SCHEMA),
                0,
                3,
                0,
                Optional.of(new WindowSpec.Tumble(10)));
        Map<List<Long>, Long> watermarks = Map.of(
                List.of(50L, 1_000L), 47L,
                List.of(1_000L, 50L, NO_ROW), 47L,
                List.of(NO_ROW, 50L), 47L,
                List.of(-5L, 0L, 5L), -8L,
                List.of(NO_ROW, NO_ROW), Operator.NO_WATERMARK);
        watermarks.forEach((times, expected) -> {
            List<byte[]> saved = times.stream().map(time -> saved(node, time)).toList();
            WatermarkOperator restored = new WatermarkOperator(node);
            restored.restore((name, reader) ->
                    saved.forEach(bytes -> reader.accept(new DataInputStream(new ByteArrayInputStream(bytes)), -1)));
            assertEquals(expected, restored.watermark(), times::toString);
        });
    }

    private static final long NO_ROW = Long.MIN_VALUE;

    /** What an instance saves that has seen a row of this time. */
    private static byte[] saved(PlanNode.Watermark node, long time) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OperatorRun run = new OperatorRun(() -> new WatermarkOperator(node), SCHEMA)) {
            if (time != NO_ROW) {
                run.rows(0, Row.of(time, time + 10, null, null));
            }
            run.operator().snapshot((name, group) -> new DataOutputStream(bytes));
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theWatermarkIsTheLatestTimeLessTheDelay() {
        PlanNode.Watermark node = new PlanNode.Watermark(
                new PlanNode.Scan("s", List.of(0), List.of(), SCHEMA), 0, 3, 0, Optional.empty());
        WatermarkOperator operator = new WatermarkOperator(node);
        assertEquals(Operator.NO_WATERMARK, operator.watermark());
        List<Long> seen = new ArrayList<>();
        new OperatorHarness(() -> operator, SCHEMA)
                .rows(Row.of(5L, 0L, null, null), Row.of(2L, 0L, null, null))
                .runOnce();
        seen.add(operator.watermark());
        assertEquals(List.of(2L), seen);
    }
}
