package dev.millrace.server.format;

import dev.millrace.batch.Batch;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** JSON lines, values as PostgreSQL's {@code to_json} writes them. */
final class JsonWriter implements RowWriter {
    private final Schema schema;
    private final Appendable out;
    private final String[] names;

    JsonWriter(Schema schema, Appendable out) {
        this.schema = schema;
        this.out = out;
        this.names = schema.names().stream().map(name -> quoted(name) + ":").toArray(String[]::new);
    }

    @Override
    public void write(Batch batch) throws IOException {
        try (CellText cells = new CellText(batch)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                char separator = '{';
                for (int column = 0; column < names.length; column++) {
                    out.append(separator).append(names[column]);
                    value(cells, schema.type(column), batch.column(column), row);
                    separator = ',';
                }
                out.append(names.length == 0 ? "{}\n" : "}\n");
            }
        }
    }

    @Override
    public void end() {}

    private void value(CellText cells, DataType type, FieldVector vector, int row) throws IOException {
        if (vector.isNull(row)) {
            out.append("null");
            return;
        }
        switch (type.kind()) {
            case ARRAY -> {
                ListVector list = (ListVector) vector;
                char separator = '[';
                int end = list.getElementEndIndex(row);
                for (int at = list.getElementStartIndex(row); at < end; at++) {
                    out.append(separator);
                    value(cells, type.element(), list.getDataVector(), at);
                    separator = ',';
                }
                out.append(separator == '[' ? "[]" : "]");
            }
            case ROW -> {
                StructVector struct = (StructVector) vector;
                char separator = '{';
                for (int field = 0; field < type.fields().size(); field++) {
                    out.append(separator)
                            .append(quoted(type.fields().get(field).name()))
                            .append(':');
                    value(cells, type.fields().get(field).type(), (FieldVector) struct.getChildByOrdinal(field), row);
                    separator = ',';
                }
                out.append(separator == '{' ? "{}" : "}");
            }
            case BOOLEAN -> out.append(cells.text(type, vector, row).equals("t") ? "true" : "false");
            case SMALLINT, INTEGER, BIGINT, NUMERIC, JSONB -> out.append(cells.text(type, vector, row));
            case REAL, DOUBLE -> {
                String text = cells.text(type, vector, row);
                boolean finite = Character.isDigit(text.charAt(text.length() - 1));
                out.append(finite ? text : quoted(text)); // JSON has no NaN and no Infinity
            }
            case TIMESTAMP, TIMESTAMPTZ -> out.append(quoted(iso8601(cells.text(type, vector, row))));
            case TEXT, VARCHAR, CHAR, BYTEA, DATE, TIME, INTERVAL, UUID, NULL ->
                out.append(quoted(cells.text(type, vector, row)));
        }
    }

    /** {@code 2024-02-29 12:00:00+00} as {@code 2024-02-29T12:00:00+00:00}. */
    private static String iso8601(String timestamp) {
        String text = timestamp.replace(' ', 'T');
        return text.endsWith("+00") ? text + ":00" : text;
    }

    static String quoted(String text) {
        StringBuilder result = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            switch (c) {
                case '"' -> result.append("\\\"");
                case '\\' -> result.append("\\\\");
                case '\n' -> result.append("\\n");
                case '\r' -> result.append("\\r");
                case '\t' -> result.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7f) {
                        result.append(String.format("\\u%04x", (int) c));
                    } else {
                        result.append(c);
                    }
                }
            }
        }
        return result.append('"').toString();
    }
}
