package dev.millrace.sketch.materialise;

import dev.millrace.batch.Batch;
import dev.millrace.sketch.Sketch;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Which rows of a sketch become observations, and in which order. Immutable and safe on any thread, unless its sampler is
 * not.
 *
 * <pre>{@code
 * Materialisation.all().stream(sketch).mapToDouble(row -> row.number(0)).max();
 * Materialisation.topK(3).inTimeOrder().iterator(sketch);
 * try (Batch batch = Materialisation.all().batch(sketch, allocator)) { ... }
 * }</pre>
 */
public final class Materialisation {
    private enum Kind {
        ALL,
        SAMPLE,
        TOP,
        BOTTOM
    }

    private static final Materialisation ALL = new Materialisation(Kind.ALL, 0, observation -> true, false);

    private final Kind kind;
    private final int k;
    private final Sampler sampler;
    private final boolean inTimeOrder;

    private Materialisation(Kind kind, int k, Sampler sampler, boolean inTimeOrder) {
        this.kind = kind;
        this.k = k;
        this.sampler = sampler;
        this.inTimeOrder = inTimeOrder;
    }

    /** Every row, as it arrived. */
    public static Materialisation all() {
        return ALL;
    }

    /** The rows that a sampler takes, as they arrived. */
    public static Materialisation sample(Sampler sampler) {
        return new Materialisation(Kind.SAMPLE, 0, sampler, false);
    }

    /** The rows of the {@code k} most frequent combinations of values, combination by combination. */
    public static Materialisation topK(int k) {
        return new Materialisation(Kind.TOP, k, observation -> true, false);
    }

    /** The rows of the {@code k} least frequent combinations of values, combination by combination. */
    public static Materialisation bottomK(int k) {
        return new Materialisation(Kind.BOTTOM, k, observation -> true, false);
    }

    /** The same rows by rising time; those of equal time as they arrived. */
    public Materialisation inTimeOrder() {
        return new Materialisation(kind, k, sampler, true);
    }

    public Iterator<Observation> iterator(Sketch sketch) {
        return stream(sketch).iterator();
    }

    /** Lazily, on the thread that asks; {@link Stream#parallel} expands contiguous blocks of rows on several. */
    public Stream<Observation> stream(Sketch sketch) {
        if (isEverything(sketch)) {
            return IntStream.range(0, sketch.rows()).mapToObj(row -> new Observation(sketch, row));
        }
        return Arrays.stream(rows(sketch)).mapToObj(row -> new Observation(sketch, row));
    }

    /** The rows as a batch: the time, then the features. The caller closes it. */
    public Batch batch(Sketch sketch, BufferAllocator allocator) {
        return isEverything(sketch)
                ? ArrowOutput.all(sketch, allocator)
                : ArrowOutput.rows(sketch, rows(sketch), allocator);
    }

    /** Which rows these are, by their places in the sketch. */
    public BitSet places(Sketch sketch) {
        BitSet places = new BitSet(sketch.rows());
        if (kind == Kind.ALL) {
            places.set(0, sketch.rows());
        } else {
            Arrays.stream(rows(sketch)).forEach(places::set);
        }
        return places;
    }

    private boolean isEverything(Sketch sketch) {
        return kind == Kind.ALL && (!inTimeOrder || sketch.times().ordered());
    }

    private int[] rows(Sketch sketch) {
        int[] rows = switch (kind) {
            case ALL -> IntStream.range(0, sketch.rows()).toArray();
            case SAMPLE ->
                IntStream.range(0, sketch.rows())
                        .filter(row -> sampler.takes(new Observation(sketch, row)))
                        .toArray();
            case TOP -> Frequency.rows(sketch, k, true);
            case BOTTOM -> Frequency.rows(sketch, k, false);
        };
        if (!inTimeOrder) {
            return rows;
        }
        Arrays.sort(rows);
        return sketch.times().ordered()
                ? rows
                : Arrays.stream(rows)
                        .boxed()
                        .sorted((a, b) -> Long.compare(
                                sketch.times().at(a), sketch.times().at(b)))
                        .mapToInt(Integer::intValue)
                        .toArray();
    }
}
