package dev.millrace.server.copy;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.batch.text.VectorText;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.server.pgwire.value.RowEncoder;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;

/** Writes rows as COPY TO does. Stateless but for its options; allocates nothing per row. */
public final class CopyOutput {
    private static final byte[] SIGNATURE = "PGCOPY\n\u00ff\r\n\0".getBytes(StandardCharsets.ISO_8859_1);

    private final CopyOptions options;
    private final CsvRows csv;
    private final byte[] nullText;

    /** @throws MillraceException for a form of CSV that is only read, not written */
    public CopyOutput(CopyOptions options) {
        boolean plainCsv = options.nullText().isEmpty() && options.quote() == '"' && options.escape() == '"';
        if (options.form() == CopyOptions.Form.CSV && !plainCsv) {
            throw MillraceException.notAvailableYet("COPY ... TO in CSV with another NULL, QUOTE or ESCAPE than usual");
        }
        this.options = options;
        this.csv = new CsvRows(options.delimiter());
        this.nullText = options.nullText().getBytes(StandardCharsets.UTF_8);
    }

    /** What stands before the first row. */
    public void begin(TextBuffer out, Schema schema) {
        switch (options.form()) {
            case BINARY -> {
                out.append(SIGNATURE);
                out.append(new byte[8]); // no flags, no extension
            }
            case CSV -> {
                if (options.header()) {
                    csv.header(out, schema, "");
                }
            }
            case TEXT -> {
                if (options.header()) {
                    for (int column = 0; column < schema.size(); column++) {
                        if (column > 0) {
                            out.append(options.delimiter());
                        }
                        out.append(schema.field(column).name().getBytes(StandardCharsets.UTF_8));
                    }
                    out.append('\n');
                }
            }
        }
    }

    /** One row. */
    public void row(TextBuffer out, Batch batch, int row) {
        switch (options.form()) {
            case BINARY -> RowEncoder.binaryFields(out, batch, row);
            case CSV -> csv.row(out, batch, row);
            case TEXT -> textRow(out, batch, row);
        }
    }

    /** What stands behind the last row. */
    public void end(TextBuffer out) {
        if (options.form() == CopyOptions.Form.BINARY) {
            out.append((byte) -1);
            out.append((byte) -1);
        }
    }

    private void textRow(TextBuffer out, Batch batch, int row) {
        for (int column = 0; column < batch.columnCount(); column++) {
            if (column > 0) {
                out.append(options.delimiter());
            }
            if (batch.column(column).isNull(row)) {
                out.append(nullText);
            } else {
                long start = out.length();
                VectorText.value(out, batch.schema().type(column), batch.column(column), row);
                escapeFrom(out, start);
            }
        }
        out.append('\n');
    }

    /** Puts a backslash before what would be taken for an end of a field or of a line, or for a backslash. */
    private void escapeFrom(TextBuffer out, long start) {
        int length = (int) (out.length() - start);
        int escapes = 0;
        for (int i = 0; i < length; i++) {
            escapes += isSpecial(Memory.getByte(out.address() + start + i)) ? 1 : 0;
        }
        if (escapes == 0) {
            return;
        }
        out.room(escapes);
        long from = out.address() + start + length;
        long to = from + escapes;
        out.end(to);
        for (int i = 0; i < length; i++) {
            byte b = Memory.getByte(--from);
            if (isSpecial(b)) {
                Memory.putByte(--to, letter(b));
                Memory.putByte(--to, (byte) '\\');
            } else {
                Memory.putByte(--to, b);
            }
        }
    }

    private boolean isSpecial(byte b) {
        return b == '\\' || b == options.delimiter() || b == '\n' || b == '\r' || b == '\t';
    }

    private static byte letter(byte b) {
        return switch (b) {
            case '\n' -> 'n';
            case '\r' -> 'r';
            case '\t' -> 't';
            default -> b;
        };
    }
}
