package dev.millrace.sketch.column;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** A feature's symbols, how often each occurs, and their sequence. Immutable to the reader, safe on any thread. */
public final class Column {
    private final Symbols symbols;
    private final Sequence sequence;
    private volatile int @Nullable [] counts; // null until counted; equal whoever writes it

    private Column(Symbols symbols, Sequence sequence, int @Nullable [] counts) {
        this.symbols = symbols;
        this.sequence = sequence;
        this.counts = counts;
    }

    public static Column of(Symbols symbols, Sequence sequence) {
        return new Column(symbols, sequence, null);
    }

    /** With counts known, one per symbol and one for NULL; takes ownership. */
    public static Column counted(Symbols symbols, Sequence sequence, int[] counts) {
        return new Column(symbols, sequence, counts);
    }

    public Symbols symbols() {
        return symbols;
    }

    public NumberSymbols numbers() {
        return (NumberSymbols) symbols;
    }

    public Sequence sequence() {
        return sequence;
    }

    public int rows() {
        return sequence.rows();
    }

    /** How often each symbol occurs, and NULL at the end; not to be changed. */
    public int[] counts() {
        int[] all = counts;
        if (all == null) {
            all = sequence.count(symbols.size() + 1);
            counts = all;
        }
        return all;
    }

    public int nullCount() {
        return counts()[symbols.size()];
    }

    /** The same rows with other symbols: {@code target} gives a rank of {@code to} for each rank of this one, NULL included. */
    public Column translate(Symbols to, IntUnaryOperator target) {
        int[] table = new int[symbols.size() + 1];
        Arrays.setAll(table, target);
        int[] newCounts = new int[to.size() + 1];
        int[] old = counts();
        for (int rank = 0; rank < old.length; rank++) {
            newCounts[table[rank]] += old[rank];
        }
        Sequence translated;
        if (sequence.inRuns()) {
            Sequence.Runs runs = sequence.runs();
            int[] ranks = new int[runs.count()];
            for (int r = 0; r < ranks.length; r++) {
                ranks[r] = table[runs.ranks()[r]];
            }
            translated = Sequence.ofRuns(rows(), new Sequence.Runs(ranks, runs.ends(), runs.count()));
        } else {
            translated = Sequence.lazy(rows(), () -> {
                int[] ranks = sequence.ranks().clone();
                for (int i = 0; i < ranks.length; i++) {
                    ranks[i] = table[ranks[i]];
                }
                return ranks;
            });
        }
        return counted(to, translated, newCounts);
    }
}
