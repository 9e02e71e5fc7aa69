package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import java.io.IOException;

/** Rows as lines of bytes, gathered and handed on some at a time. */
final class LineBuffer {
    private static final int FULL_BYTES = 1 << 16;

    private LineBuffer() {}

    /** Writes one row into the buffer. */
    interface Row {
        void write(TextBuffer buffer, Batch batch, int row);
    }

    static void write(Batch batch, TimeStyle style, Appendable out, Row form) throws IOException {
        if (batch.columnCount() == 0) {
            AlignedTable.pad(out, '\n', batch.rowCount());
            return;
        }
        try (TextBuffer buffer = new TextBuffer(batch.column(0).getAllocator(), FULL_BYTES)) {
            buffer.inStyle(style);
            for (int row = 0; row < batch.rowCount(); row++) {
                form.write(buffer, batch, row);
                if (buffer.length() >= FULL_BYTES) {
                    out.append(buffer.toString());
                    buffer.clear();
                }
            }
            out.append(buffer.toString());
        }
    }
}
