package dev.millrace.engine.match;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which rows of a match are mapped to the symbols that some values ask for, in order, and their aggregates; rows are
 * added and taken back at the end. Positions are those of the rows in their partition.
 */
final class Mapping {
    private final int[] symbols; // tracked ones
    private final int[][] trackedOf; // by variable: places in symbols
    private final int[][] positions; // by place
    private final int[] sizes;
    private final int[] soFar; // how many of them are at or before the row shown
    private final List<MatchValue.Aggregate> aggregates = new ArrayList<>();
    private final List<Accumulator> accumulators = new ArrayList<>();
    private final Accumulator[][] accumulatorsOf; // by place

    Mapping(MatchSpec spec, List<MatchValue> values, RowCodec codec, List<DataType> types) {
        this.symbols = values.stream()
                .mapToInt(Mapping::symbolOf)
                .filter(symbol -> symbol >= 0)
                .distinct()
                .toArray();
        this.positions = new int[symbols.length][8];
        this.sizes = new int[symbols.length];
        this.soFar = new int[symbols.length];
        this.trackedOf = new int[spec.variables()][];
        for (int variable = 0; variable < trackedOf.length; variable++) {
            int of = variable;
            trackedOf[variable] = IntStream.range(0, symbols.length)
                    .filter(place ->
                            spec.symbols().get(symbols[place]).variables().contains(of))
                    .toArray();
        }
        List<List<Accumulator>> bySymbol = new ArrayList<>();
        for (int ignored : symbols) {
            bySymbol.add(new ArrayList<>());
        }
        for (MatchValue value : values) {
            if (value instanceof MatchValue.Aggregate aggregate
                    && aggregate.argument().isPresent()
                    && !aggregates.contains(running(aggregate))) {
                Accumulator accumulator = new Accumulator(aggregate, codec, types);
                aggregates.add(running(aggregate));
                accumulators.add(accumulator);
                bySymbol.get(place(aggregate.symbol())).add(accumulator);
            }
        }
        this.accumulatorsOf =
                bySymbol.stream().map(list -> list.toArray(new Accumulator[0])).toArray(Accumulator[][]::new);
    }

    private static int symbolOf(MatchValue value) {
        return value instanceof MatchValue.Navigation navigation
                ? navigation.symbol()
                : value instanceof MatchValue.Aggregate aggregate ? aggregate.symbol() : -1;
    }

    private static MatchValue.Aggregate running(MatchValue.Aggregate aggregate) {
        return new MatchValue.Aggregate(
                aggregate.function(), aggregate.symbol(), aggregate.argument(), false, aggregate.type());
    }

    /** The place of a symbol that a value asks for. */
    int place(int symbol) {
        for (int place = 0; place < symbols.length; place++) {
            if (symbols[place] == symbol) {
                return place;
            }
        }
        throw new IllegalArgumentException("symbol " + symbol + " is not tracked");
    }

    /** The place of an aggregate of a column. */
    int indexOf(MatchValue.Aggregate aggregate) {
        return aggregates.indexOf(running(aggregate));
    }

    Accumulator accumulator(int index) {
        return accumulators.get(index);
    }

    void clear() {
        Arrays.fill(sizes, 0);
        Arrays.fill(soFar, 0);
    }

    /** Maps the next row. */
    void push(int position, int variable, long row) {
        for (int place : trackedOf[variable]) {
            int size = sizes[place]++;
            if (size == positions[place].length) {
                positions[place] = Arrays.copyOf(positions[place], 2 * size);
            }
            positions[place][size] = position;
            for (Accumulator accumulator : accumulatorsOf[place]) {
                accumulator.push(row, size);
            }
            soFar[place] = size + 1;
        }
    }

    /** Takes back the rows from {@code position} on. */
    void truncate(int position) {
        for (int place = 0; place < sizes.length; place++) {
            int size = sizes[place];
            while (size > 0 && positions[place][size - 1] >= position) {
                size--;
            }
            sizes[place] = size;
            soFar[place] = size;
        }
    }

    /** Whether nothing is asked for, so that there is nothing to track. */
    boolean isEmpty() {
        return symbols.length == 0;
    }

    /** The row shown is before all rows of the match. */
    void rewind() {
        Arrays.fill(soFar, 0);
    }

    /** The row shown is now this one, not before the one it was. */
    void showTo(int position) {
        for (int place = 0; place < sizes.length; place++) {
            while (soFar[place] < sizes[place] && positions[place][soFar[place]] <= position) {
                soFar[place]++;
            }
        }
    }

    /** How many rows are mapped to the symbol at a place, in all or so far. */
    int size(int place, boolean whole) {
        return whole ? sizes[place] : soFar[place];
    }

    int position(int place, int index) {
        return positions[place][index];
    }

    /** Makes all positions smaller: rows before them were forgotten. */
    void shift(int by) {
        for (int place = 0; place < sizes.length; place++) {
            for (int i = 0; i < sizes[place]; i++) {
                positions[place][i] -= by;
            }
        }
    }
}
