package dev.millrace.engine.join;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Pairs of rows that may meet, some at a time, wherever each of the two lies: a row at hand, and one of the other side. */
final class FoundPairs {
    private static final int FIRST_PAIRS = 64; // most queries are small

    /** How the rows of a side lie in memory. */
    @FunctionalInterface
    interface Columns {
        FieldVector of(int column, Field field, long[] rows, int count);
    }

    private final Schema schema; // of pairs
    private final int leftColumns;
    private final Optional<Residual> residual;
    private final OperatorContext context;
    private final int most;
    private int[] positions = new int[FIRST_PAIRS];
    private long[] ours = new long[FIRST_PAIRS];
    private long[] theirs = new long[FIRST_PAIRS];
    private long[] weights = new long[FIRST_PAIRS]; // of theirs
    private int count;

    FoundPairs(Schema schema, int leftColumns, Optional<Residual> residual, OperatorContext context) {
        this.schema = schema;
        this.leftColumns = leftColumns;
        this.residual = residual;
        this.context = context;
        this.most = Math.max(FIRST_PAIRS, context.batchRows());
    }

    /**
     * Adds a pair; returns whether they are to be taken before another one can be added.
     *
     * @param position of our row
     * @param weight of theirs
     */
    boolean add(int position, long our, long their, long weight) {
        positions[count] = position;
        ours[count] = our;
        theirs[count] = their;
        weights[count] = weight;
        return ++count == positions.length && !hasRoom();
    }

    private boolean hasRoom() {
        if (count == most) {
            return false;
        }
        int more = Math.min(4 * count, most);
        positions = Arrays.copyOf(positions, more);
        ours = Arrays.copyOf(ours, more);
        theirs = Arrays.copyOf(theirs, more);
        weights = Arrays.copyOf(weights, more);
        return true;
    }

    /** Keeps those that meet by the residual condition, and returns how many. */
    int select(int port, Columns our, Columns their) {
        if (count > 0 && residual.isPresent()) {
            int all = count;
            Residual.Source mine = (column, field) -> our.of(column, field, ours, all);
            Residual.Source others = (column, field) -> their.of(column, field, theirs, all);
            Residual condition = residual.get();
            count = condition.select(port == 0 ? mine : others, port == 0 ? others : mine, all);
            int[] selected = condition.selected();
            for (int i = 0; i < count; i++) {
                positions[i] = positions[selected[i]];
                ours[i] = ours[selected[i]];
                theirs[i] = theirs[selected[i]];
                weights[i] = weights[selected[i]];
            }
        }
        return count;
    }

    int position(int i) {
        return positions[i];
    }

    long[] ours() {
        return ours;
    }

    long their(int i) {
        return theirs[i];
    }

    long weight(int i) {
        return weights[i];
    }

    /** Emits what is left, a row each. */
    void emit(int port, Columns our, Columns their, long[] pairWeights, Output output) {
        if (count == 0) {
            return;
        }
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < schema.size(); column++) {
                boolean isLeft = column < leftColumns;
                boolean isOur = isLeft == (port == 0);
                vectors.add((isOur ? our : their)
                        .of(
                                isLeft ? column : column - leftColumns,
                                schema.field(column),
                                isOur ? ours : theirs,
                                count));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        output.emit(WeightedRows.batch(
                schema, vectors.toArray(FieldVector[]::new), count, pairWeights, 0, context.allocator()));
    }

    void clear() {
        count = 0;
    }
}
