package dev.millrace.engine.rows;

import dev.millrace.batch.Batch;
import dev.millrace.operator.OperatorContext;
import org.apache.arrow.vector.FieldVector;

/**
 * A table function at work. One thread; per input row {@link #begin}, then {@link #next} until it gives fewer rows than
 * were asked for.
 */
public interface RowsFunction extends AutoCloseable {
    void open(OperatorContext context);

    /** Goes to a row of a batch, which stays until the next call. */
    void begin(Batch batch, int row);

    /** Writes the next rows of the row at hand to {@code out} from {@code at} on, and returns how many there were. */
    int next(FieldVector[] out, int at, int most);

    @Override
    void close();
}
