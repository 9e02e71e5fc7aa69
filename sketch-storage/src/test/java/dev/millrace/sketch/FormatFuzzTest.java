package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentSeal;
import dev.millrace.sketch.segment.Versions;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Whatever bytes are read as a segment: either they are one, or a clear error says that they are not. Changed segments are
 * tried as they are, where the checksum must notice, and with a checksum made to match, where only the reader's own care is
 * left.
 */
class FormatFuzzTest {
    private static final long MUTATIONS = Long.getLong("millrace.sketch.mutations", 25_000);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    @Test
    void changedSegmentsAreNoticedOrReadWithoutHarm() {
        System.out.println("sketch format: " + MUTATIONS + " mutations, seed " + SEED);
        Random random = new Random(SEED);
        byte[][] segments = new byte[64][];
        for (int i = 0; i < segments.length; i++) {
            segments[i] = RandomStreams.make(random).bytes();
        }
        long readable = 0;
        for (long m = 0; m < MUTATIONS; m++) {
            byte[] mutated = mutate(segments[random.nextInt(segments.length)], segments, random);
            boolean resealed = random.nextInt(4) > 0 && mutated.length > 5;
            if (resealed) {
                SegmentSeal.seal(mutated);
            }
            String where = "mutation " + m + " of seed " + SEED;
            try {
                Sketch sketch = SegmentCodec.read(mutated, new Versions());
                touch(sketch);
                readable++;
                assertTrue(
                        resealed || Arrays.stream(segments).anyMatch(s -> Arrays.equals(s, mutated)),
                        where + ": a changed segment was read");
            } catch (MillraceException e) {
                assertTrue(
                        e.sqlState() == SqlState.DATA_CORRUPTED
                                || e.sqlState() == SqlState.FEATURE_NOT_SUPPORTED
                                || e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        where + ": " + e.sqlState() + " " + e.getMessage());
            } catch (RuntimeException | OutOfMemoryError e) {
                throw new AssertionError(where, e);
            }
        }
        System.out.println(
                "sketch format: " + readable + " of the mutations could be read, all with a made-up checksum");
    }

    /** Decodes everything there is. */
    private static void touch(Sketch sketch) {
        long sum = sketch.times().at(sketch.rows() - 1);
        for (Column column : sketch.columns()) {
            for (int rank : column.sequence().ranks()) {
                sum += rank;
                assertTrue(rank >= 0 && rank <= column.symbols().size());
            }
            sum += column.counts().length;
        }
        assertTrue(sum != Long.MIN_VALUE);
    }

    private static byte[] mutate(byte[] segment, byte[][] all, Random random) {
        byte[] mutated = segment.clone();
        switch (random.nextInt(6)) {
            case 0 -> mutated = Arrays.copyOf(mutated, random.nextInt(mutated.length + 1));
            case 1 -> mutated = Arrays.copyOf(mutated, mutated.length + 1 + random.nextInt(20));
            case 2 -> {
                byte[] other = all[random.nextInt(all.length)];
                int from = random.nextInt(mutated.length);
                for (int i = from; i < Math.min(mutated.length, other.length); i++) {
                    mutated[i] = other[i];
                }
            }
            case 3 -> {
                for (int i = random.nextInt(mutated.length); i < mutated.length; i++) {
                    mutated[i] = (byte) random.nextInt();
                }
            }
            default -> {
                for (int n = 1 + random.nextInt(4); n > 0; n--) {
                    int limit = random.nextBoolean() ? mutated.length : Math.min(200, mutated.length);
                    mutated[random.nextInt(limit)] ^= (byte) (1 << random.nextInt(8));
                }
            }
        }
        return mutated;
    }

    @Test
    void aNewerFormatSaysSo() {
        byte[] segment = RandomStreams.make(new Random(1)).bytes().clone();
        segment[0] = (byte) (segment[0] & 0xf0 | 3);
        MillraceException error =
                assertThrows(MillraceException.class, () -> SegmentCodec.read(segment, new Versions()));
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, error.sqlState());
        assertTrue(error.getMessage().contains("format 3"));
    }

    @Test
    void aTruncatedSegmentIsDamaged() {
        byte[] segment = RandomStreams.make(new Random(1)).bytes();
        for (int length = 0; length < segment.length; length++) {
            byte[] cut = Arrays.copyOf(segment, length);
            MillraceException error =
                    assertThrows(MillraceException.class, () -> SegmentCodec.read(cut, new Versions()));
            assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
        }
    }
}
