package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.column.Symbols;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Columns stored together: a dictionary for each, then their combinations ({@link JointPlan}). */
public final class JointCodec {
    private JointCodec() {}

    /**
     * One feature, ready to be stored together with others.
     *
     * @param head its dictionary
     * @param ranks of every row, NULL the highest
     * @param size how many ranks there are, NULL included where it occurs
     */
    public record Part(BitWriter head, int[] ranks, int size) {}

    /** What was read. */
    public record Decoded(List<Column> columns, int[][] combinations, int[] counts) {}

    /** Columns together, ready to be written. */
    public record Plan(List<Part> parts, JointPlan joint) {
        /** About how many bits {@link #write} takes; without those of an inverted index. */
        public long bits() {
            long bits = joint.bits();
            for (Part part : parts) {
                bits += part.head().bitCount();
            }
            return bits;
        }

        public void write(BitWriter out) {
            for (Part part : parts) {
                out.align(); // texts begin at a byte
                out.append(part.head());
            }
            joint.write(out);
        }
    }

    /** Prepares columns, unless they have more than {@code most} combinations. */
    public static Optional<Plan> plan(List<Part> parts, int rows, int most, boolean index, Keep keep) {
        int[][] ranks = new int[parts.size()][];
        int[] sizes = new int[parts.size()];
        for (int f = 0; f < sizes.length; f++) {
            ranks[f] = parts.get(f).ranks();
            sizes[f] = parts.get(f).size();
        }
        return JointPlan.of(ranks, sizes, rows, most, index, keep).map(joint -> new Plan(parts, joint));
    }

    public static Decoded read(BitReader in, int rows, SketchSchema schema, List<BinSet> bins) {
        List<Symbols> symbols = new ArrayList<>();
        int[] sizes = new int[schema.size()];
        for (int f = 0; f < sizes.length; f++) {
            in.align();
            boolean someNull = in.flag();
            Feature.Kind kind = schema.feature(f).kind();
            Symbols mine = kind == Feature.Kind.TEXT
                    ? TextColumnCodec.readJoint(in, rows)
                    : NumberColumnCodec.readJoint(in, rows, bins.get(f), kind);
            symbols.add(mine);
            sizes[f] = mine.size() + (someNull ? 1 : 0);
            Damage.check(sizes[f] > 0, "a feature without symbols");
        }
        JointPlan.Read read = JointPlan.read(in, rows, sizes);
        List<Column> columns = new ArrayList<>();
        for (int f = 0; f < sizes.length; f++) {
            columns.add(column(symbols.get(f), f, read, rows));
        }
        return new Decoded(columns, read.combinations(), read.counts());
    }

    private static Column column(Symbols symbols, int feature, JointPlan.Read read, int rows) {
        int[] counts = new int[symbols.size() + 1];
        int[] table = new int[read.combinations().length];
        for (int c = 0; c < table.length; c++) {
            table[c] = read.combinations()[c][feature];
            counts[table[c]] += read.counts()[c];
        }
        Sequence joint = read.sequence();
        if (joint.inRuns()) {
            return Column.counted(symbols, Sequence.ofRuns(rows, merged(joint.runs(), table)), counts);
        }
        return Column.counted(
                symbols,
                Sequence.lazy(rows, () -> {
                    int[] ranks = joint.ranks().clone();
                    for (int i = 0; i < ranks.length; i++) {
                        ranks[i] = table[ranks[i]];
                    }
                    return ranks;
                }),
                counts);
    }

    /** The runs of one feature: of several combinations with the same rank one after another it makes one. */
    private static Sequence.Runs merged(Sequence.Runs runs, int[] table) {
        int[] ranks = new int[runs.count()];
        int[] ends = new int[runs.count()];
        int used = 0;
        for (int r = 0; r < runs.count(); r++) {
            int rank = table[runs.ranks()[r]];
            if (used > 0 && ranks[used - 1] == rank) {
                ends[used - 1] = runs.ends()[r];
            } else {
                ranks[used] = rank;
                ends[used++] = runs.ends()[r];
            }
        }
        return new Sequence.Runs(ranks, ends, used);
    }
}
