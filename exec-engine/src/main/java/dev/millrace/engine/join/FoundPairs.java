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

/** {@link Pairs} whose rows lie wherever each side has them, so that the other row's weight is kept with each. */
final class FoundPairs {
    private final Schema schema; // of pairs
    private final int leftColumns;
    private final OperatorContext context;
    private final Pairs pairs;
    private long[] weights = new long[0]; // of the other side's rows

    FoundPairs(Schema schema, int leftColumns, Optional<Residual> residual, OperatorContext context) {
        this.schema = schema;
        this.leftColumns = leftColumns;
        this.context = context;
        this.pairs = new Pairs(context.batchRows(), residual);
    }

    /**
     * Adds a pair; returns whether they are to be taken before another one can be added.
     *
     * @param position of our row
     * @param weight of theirs
     */
    boolean add(int position, long our, long their, long weight) {
        int at = pairs.count();
        boolean isFull = pairs.add(position, our, their);
        if (at == weights.length) {
            weights = Arrays.copyOf(weights, pairs.ours().length);
        }
        weights[at] = weight;
        return isFull;
    }

    /** As {@link Pairs#select}. */
    int select(int port, RowColumns our, RowColumns their, Residual.Weights pairWeights) {
        int count = pairs.select(port, our, their, pairWeights);
        for (int i = 0; i < count; i++) {
            weights[i] = weights[pairs.before(i)];
        }
        return count;
    }

    int position(int i) {
        return pairs.position(i);
    }

    long[] ours() {
        return pairs.ours();
    }

    long their(int i) {
        return pairs.their(i);
    }

    long weight(int i) {
        return weights[i];
    }

    /** Emits what is left, a row each. */
    void emit(int port, RowColumns our, RowColumns their, long[] pairWeights, Output output) {
        int count = pairs.count();
        if (count == 0) {
            return;
        }
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < schema.size(); column++) {
                Field field = schema.field(column);
                boolean isLeft = column < leftColumns;
                int of = isLeft ? column : column - leftColumns;
                vectors.add(
                        isLeft == (port == 0)
                                ? our.of(of, field, pairs.ours(), count)
                                : their.of(of, field, pairs.theirs(), count));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        output.emit(WeightedRows.batch(
                schema, vectors.toArray(FieldVector[]::new), count, pairWeights, 0, context.allocator()));
    }

    void clear() {
        pairs.clear();
    }
}
