package dev.millrace.server.copy;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.LiteralRows.Kind;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Makes a batch of an INSERT's literals, straight from their texts into columns. */
public final class LiteralInput {
    private static final int ROOM = 256;

    private LiteralInput() {}

    /**
     * Rows of a relation.
     *
     * @param schema the relation's columns
     * @param places for each of them the cell of a row that it takes, negative for none: it is NULL
     * @throws MillraceException for a text that is not of its column's type, at its position
     */
    public static Batch rows(LiteralRows rows, Schema schema, int[] places, BufferAllocator allocator) {
        List<ColumnWriter> writers = new ArrayList<>(schema.size());
        List<FieldVector> columns = new ArrayList<>(schema.size());
        try (TextBuffer text = new TextBuffer(allocator, ROOM)) {
            for (int column = 0; column < schema.size(); column++) {
                ColumnWriter writer = new ColumnWriter(schema.field(column), rows.rows(), allocator);
                writers.add(writer);
                for (int row = 0; row < rows.rows(); row++) {
                    if (places[column] < 0) {
                        writer.putNull(row);
                    } else {
                        put(writer, row, rows.cell(row, places[column]), text);
                    }
                }
            }
            return batch(writers, columns, schema, rows.rows());
        } catch (RuntimeException | Error e) {
            Closing.all(columns);
            throw e;
        } finally {
            Closing.all(writers);
        }
    }

    /**
     * The same of rows that are places in a text.
     *
     * @throws MillraceException for a value that is not of its column's type
     */
    public static Batch rows(LiteralText rows, Schema schema, int[] places, BufferAllocator allocator) {
        List<ColumnWriter> writers = new ArrayList<>(schema.size());
        List<FieldVector> columns = new ArrayList<>(schema.size());
        try (TextBuffer text = new TextBuffer(allocator, rows.text().length)) {
            text.append(rows.text());
            for (int column = 0; column < schema.size(); column++) {
                ColumnWriter writer = new ColumnWriter(schema.field(column), rows.rows(), allocator);
                writers.add(writer);
                for (int row = 0; row < rows.rows(); row++) {
                    int length = places[column] < 0 ? LiteralText.NULL : rows.length(row, places[column]);
                    if (length == LiteralText.NULL) {
                        writer.putNull(row);
                    } else {
                        writer.putText(row, text.address() + rows.start(row, places[column]), length);
                    }
                }
            }
            return batch(writers, columns, schema, rows.rows());
        } catch (RuntimeException | Error e) {
            Closing.all(columns);
            throw e;
        } finally {
            Closing.all(writers);
        }
    }

    /** @param columns given its columns one by one, as whoever fails closes them */
    private static Batch batch(List<ColumnWriter> writers, List<FieldVector> columns, Schema schema, int rows) {
        writers.forEach(writer -> columns.add(writer.finish(rows)));
        return Batch.of(schema, columns.toArray(FieldVector[]::new), rows);
    }

    private static void put(ColumnWriter writer, int row, Cell cell, TextBuffer text) {
        if (cell.kind() == Kind.NULL) {
            writer.putNull(row);
            return;
        }
        byte[] bytes = cell.text().getBytes(StandardCharsets.UTF_8);
        text.truncate(0);
        text.append(bytes);
        try {
            writer.putText(row, text.address(), bytes.length);
        } catch (MillraceException e) {
            throw e.position().isPresent() ? e : e.at(cell.position());
        }
    }
}
