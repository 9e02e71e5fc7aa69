package dev.millrace.sketch.form;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Sequence;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.InvalidRoaringFormat;
import org.roaringbitmap.RoaringBitmap;

/**
 * All features together: the distinct combinations of their ranks, and where each occurs, as runs or another sequence, or
 * as the published inverted index (dissertation §6.2.2): a bitmap for each combination, plain, or Roaring with runs where
 * that is smaller.
 */
public final class JointPlan {
    private static final int BITMAP_ORDER = 6;

    private final int rows;
    private final int[] sizes;
    private final int[][] combinations;
    private final long[] sequence;
    private final int[] counts;
    private final boolean index;
    private @Nullable SequencePlan plan; // null for the index
    private long bits;

    /**
     * What was read.
     *
     * @param combinations by combination and feature, the rank
     * @param sequence the combination of each row
     * @param counts how often each combination occurs
     */
    public record Read(int[][] combinations, Sequence sequence, int[] counts) {}

    private JointPlan(int rows, int[] sizes, int[][] combinations, long[] sequence, boolean index, Keep keep) {
        this.rows = rows;
        this.sizes = sizes;
        this.combinations = combinations;
        this.sequence = sequence;
        this.index = index;
        counts = new int[combinations.length];
        for (long combination : sequence) {
            counts[(int) combination]++;
        }
        int width = Arrays.stream(sizes).map(SequencePlan::width).sum();
        bits = 9L + (long) width * combinations.length;
        if (!index) {
            plan = new SequencePlan(sequence, rows, counts, combinations.length, keep);
            bits += plan.bits();
        }
    }

    /**
     * Prepares the combinations of some columns.
     *
     * @param ranks by feature and row
     * @param sizes by feature, how many ranks there are
     * @param most how many combinations are worth it
     * @param index whether as the published inverted index
     * @return empty when there are more combinations
     */
    public static java.util.Optional<JointPlan> of(
            int[][] ranks, int[] sizes, int rows, int most, boolean index, Keep keep) {
        Map<Combination, Integer> known = new HashMap<>();
        long[] sequence = new long[rows];
        int[][] combinations = new int[Math.min(most, 64)][];
        int[] current = new int[sizes.length];
        int last = -1;
        for (int row = 0; row < rows; row++) {
            boolean same = last >= 0;
            for (int f = 0; f < current.length; f++) {
                same &= current[f] == ranks[f][row];
                current[f] = ranks[f][row];
            }
            if (!same) {
                Integer found = known.get(new Combination(current));
                if (found == null) {
                    found = known.size();
                    if (found == most) {
                        return java.util.Optional.empty();
                    }
                    int[] own = current.clone();
                    known.put(new Combination(own), found);
                    if (found == combinations.length) {
                        combinations = Arrays.copyOf(combinations, 2 * found);
                    }
                    combinations[found] = own;
                }
                last = found;
            }
            sequence[row] = last;
        }
        combinations = Arrays.copyOf(combinations, known.size());
        return java.util.Optional.of(new JointPlan(rows, sizes, combinations, sequence, index, keep));
    }

    private record Combination(int[] ranks) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Combination that && Arrays.equals(ranks, that.ranks);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(ranks);
        }
    }

    /** About how many bits {@link #write} takes; the index is not estimated. */
    public long bits() {
        return bits;
    }

    public void write(BitWriter out) {
        out.golomb(combinations.length - 1, 4);
        out.flag(index);
        for (int[] combination : combinations) {
            for (int f = 0; f < sizes.length; f++) {
                out.write(combination[f], SequencePlan.width(sizes[f]));
            }
        }
        if (plan != null) {
            plan.write(out, true);
            return;
        }
        RoaringBitmap[] bitmaps = new RoaringBitmap[combinations.length];
        Arrays.setAll(bitmaps, c -> new RoaringBitmap());
        for (int row = 0; row < rows; row++) {
            bitmaps[(int) sequence[row]].add(row);
        }
        for (RoaringBitmap bitmap : bitmaps) {
            bitmap.runOptimize();
            byte[] packed = bytes(bitmap);
            boolean roaring = 8L * packed.length + 16 < rows;
            out.flag(roaring);
            if (roaring) {
                out.golomb(packed.length, BITMAP_ORDER);
                out.bytes(packed, 0, packed.length);
            } else {
                int from = 0;
                for (IntIterator set = bitmap.getIntIterator(); set.hasNext(); ) {
                    int row = set.next();
                    zeros(out, row - from);
                    out.flag(true);
                    from = row + 1;
                }
                zeros(out, rows - from);
            }
        }
    }

    private static void zeros(BitWriter out, int count) {
        int left = count;
        for (; left > 32; left -= 32) {
            out.write(0, 32);
        }
        out.write(0, left);
    }

    private static byte[] bytes(RoaringBitmap bitmap) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            bitmap.serialize(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // an array takes what it is given
        }
        return bytes.toByteArray();
    }

    /** Reads it, given how many ranks each feature has. */
    public static Read read(BitReader in, int rows, int[] sizes) {
        int size = in.count(4, rows - 1, "the number of combinations") + 1;
        boolean index = in.flag();
        Damage.check((long) size * sizes.length <= Limits.CELLS, "more combinations than a segment may have");
        int[][] combinations = new int[size][sizes.length];
        for (int[] combination : combinations) {
            for (int f = 0; f < sizes.length; f++) {
                combination[f] = in.readInt(SequencePlan.width(sizes[f]));
                Damage.check(combination[f] < sizes[f], "a rank is out of its range");
            }
        }
        if (!index) {
            SequencePlan.Read read = SequencePlan.read(in, rows, size, true);
            int[] counts = read.counts().length == 0 ? read.sequence().count(size) : read.counts();
            return new Read(combinations, read.sequence(), counts);
        }
        return readIndex(in, rows, combinations);
    }

    private static Read readIndex(BitReader in, int rows, int[][] combinations) {
        int[] sequence = new int[rows];
        int[] counts = new int[combinations.length];
        Arrays.fill(sequence, -1);
        int filled = 0;
        for (int c = 0; c < combinations.length; c++) {
            if (in.flag()) {
                byte[] packed = in.bytes(in.count(BITMAP_ORDER, Limits.SEGMENT_BYTES, "the length of a bitmap"));
                RoaringBitmap bitmap = new RoaringBitmap();
                try {
                    bitmap.deserialize(ByteBuffer.wrap(packed));
                } catch (IOException
                        | InvalidRoaringFormat
                        | IndexOutOfBoundsException
                        | IllegalArgumentException
                        | java.nio.BufferUnderflowException
                        | NegativeArraySizeException e) {
                    throw Damage.damaged("a bitmap that cannot be unpacked");
                }
                for (IntIterator set = bitmap.getIntIterator(); set.hasNext(); ) {
                    put(sequence, set.next(), c);
                    counts[c]++;
                    filled++;
                }
            } else {
                for (int row = 0; row < rows; row++) {
                    if (in.flag()) {
                        put(sequence, row, c);
                        counts[c]++;
                        filled++;
                    }
                }
            }
        }
        Damage.check(filled == rows, "rows without a combination");
        return new Read(combinations, Sequence.ofRanks(sequence), counts);
    }

    private static void put(int[] sequence, int row, int combination) {
        Damage.check(row >= 0 && row < sequence.length && sequence[row] < 0, "a row in two combinations");
        sequence[row] = combination;
    }
}
