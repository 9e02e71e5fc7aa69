package dev.millrace.batch.text;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;

/**
 * Writes rows as separated values, as PostgreSQL's COPY does: NULL is an empty field, empty text is {@code ""}, quotes
 * only where they are needed. Immutable; allocates nothing per row.
 *
 * @param delimiter between fields
 */
public record CsvRows(byte delimiter) {
    /** Fields between commas. */
    public static final CsvRows COMMAS = new CsvRows((byte) ',');

    /** The columns' names, with a line end; {@code leading} is a column before them, left out when empty. */
    public void header(TextBuffer out, Schema schema, String leading) {
        if (!leading.isEmpty()) {
            out.append(leading.getBytes(StandardCharsets.UTF_8));
        }
        for (int column = 0; column < schema.size(); column++) {
            if (column > 0 || !leading.isEmpty()) {
                out.append(delimiter);
            }
            long start = out.length();
            out.append(schema.field(column).name().getBytes(StandardCharsets.UTF_8));
            quoteFrom(out, start);
        }
        out.append('\n');
    }

    /** A row's fields and a line end. */
    public void row(TextBuffer out, Batch batch, int row) {
        for (int column = 0; column < batch.columnCount(); column++) {
            if (column > 0) {
                out.append(delimiter);
            }
            if (!batch.column(column).isNull(row)) {
                long start = out.length();
                VectorText.value(out, batch.schema().type(column), batch.column(column), row);
                quoteFrom(out, start);
            }
        }
        out.append('\n');
    }

    private void quoteFrom(TextBuffer out, long start) {
        int length = (int) (out.length() - start);
        long address = out.address() + start;
        int quotes = 0;
        boolean needed = length == 0 || (length == 2 && Memory.getShort(address) == 0x2e5c); // \. ends a COPY
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            quotes += c == '"' ? 1 : 0;
            needed |= c == '"' || c == delimiter || c == '\n' || c == '\r';
        }
        if (!needed) {
            return;
        }
        out.room(quotes + 2L);
        long from = out.address() + start + length;
        long to = from + quotes + 2;
        out.end(to);
        Memory.putByte(--to, (byte) '"');
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(--from);
            Memory.putByte(--to, c);
            if (c == '"') {
                Memory.putByte(--to, c);
            }
        }
        Memory.putByte(--to, (byte) '"');
    }
}
