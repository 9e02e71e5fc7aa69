package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** The texts of one batch's values, written in one buffer that is used again. */
final class CellText implements AutoCloseable {
    private static final int INITIAL_BYTES = 256;

    private final Batch batch;
    private final Optional<TextBuffer> buffer; // none for a batch without columns

    CellText(Batch batch, TimeStyle style) {
        this.batch = batch;
        this.buffer = batch.columnCount() == 0
                ? Optional.empty()
                : Optional.of(new TextBuffer(batch.column(0).getAllocator(), INITIAL_BYTES));
        buffer.ifPresent(text -> text.inStyle(style));
    }

    /** The value's text, or empty when it is NULL. */
    Optional<String> text(int column, int row) {
        FieldVector vector = batch.column(column);
        if (vector.isNull(row)) {
            return Optional.empty();
        }
        TextBuffer text = buffer.orElseThrow();
        text.clear();
        VectorText.value(text, batch.schema().type(column), vector, row);
        return Optional.of(text.toString());
    }

    @Override
    public void close() {
        buffer.ifPresent(TextBuffer::close);
    }
}
