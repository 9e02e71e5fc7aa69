package dev.millrace.connectors.parquet;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.column.NestedTarget;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.parquet.format.RowGroup;

/**
 * Puts together the values of one column, of which there may be arrays and rows, out of its leaves in one row group. Each leaf's cursor is at what
 * comes next. Owned by one thread.
 */
final class RowAssembly implements AutoCloseable {
    private final List<ColumnCursor> cursors = new ArrayList<>();
    private final RowBudget budget;
    private final Part part;

    /** Reads one value, or NULL, into a place. */
    private interface Part {
        void read(ValueTarget to) throws IOException;

        /** The first of its cursors, by which it is seen what is there. */
        ColumnCursor first();

        /** Passes over what is NULL in it: one entry of each leaf. */
        void pass() throws IOException;
    }

    /**
     * @param node a column of the file that can be of the type
     * @param budget of the rows that are read, of all their columns
     */
    RowAssembly(
            ParquetFile file,
            RowGroup group,
            SchemaNode node,
            DataType type,
            RowBudget budget,
            BufferAllocator allocator)
            throws IOException {
        this.budget = budget;
        try {
            this.part = part(file, group, node, type, allocator);
            for (ColumnCursor cursor : cursors) {
                cursor.next();
            }
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Reads the value of the next row. */
    void read(ValueTarget to) throws IOException {
        for (ColumnCursor cursor : cursors) {
            ParquetDamage.check(cursor.isAtValue() && cursor.repetition() == 0, "a column has fewer rows than it says");
        }
        part.read(to);
    }

    private Part part(ParquetFile file, RowGroup group, SchemaNode node, DataType type, BufferAllocator allocator)
            throws IOException {
        if (node.repeated().isPresent()) {
            SchemaNode repeated = node.repeated().get();
            Part element = element(file, group, repeated.element(node), type.element(), allocator);
            return new Repeated(node, repeated, element);
        }
        return element(file, group, node, type, allocator);
    }

    private Part element(ParquetFile file, RowGroup group, SchemaNode node, DataType type, BufferAllocator allocator)
            throws IOException {
        if (node.leaf().isPresent()) {
            ColumnCursor cursor = new ColumnCursor(
                    file, node, group.getColumns().get(node.leafNumber()).getMeta_data(), allocator);
            cursors.add(cursor);
            return new Leaf(node, cursor, budget);
        }
        if (!node.isRepeated() && node.repeated().isPresent()) {
            return part(file, group, node, type, allocator);
        }
        List<Part> fields = new ArrayList<>();
        for (Field field : type.fields()) {
            SchemaNode child = node.child(field.name()).orElseThrow();
            fields.add(part(file, group, child, field.type(), allocator));
        }
        return new Row(node, fields);
    }

    private record Leaf(SchemaNode node, ColumnCursor first, RowBudget budget) implements Part {
        @Override
        public void read(ValueTarget to) throws IOException {
            if (first.definition() == node.definition()) {
                budget.add(first.length());
                first.put(to);
            } else {
                budget.add(0);
                to.putNull();
            }
            first.next();
        }

        @Override
        public void pass() throws IOException {
            first.next();
        }
    }

    private record Row(SchemaNode node, List<Part> fields) implements Part {
        @Override
        public ColumnCursor first() {
            return fields.get(0).first();
        }

        @Override
        public void read(ValueTarget to) throws IOException {
            if (first().definition() < node.definition()) {
                to.putNull();
                pass();
                return;
            }
            NestedTarget row = to.nested();
            row.beginRow();
            for (int i = 0; i < fields.size(); i++) {
                ParquetDamage.check(fields.get(i).first().isAtValue(), "a column has fewer rows than it says");
                fields.get(i).read(row.field(i));
            }
            row.endRow();
        }

        @Override
        public void pass() throws IOException {
            for (Part field : fields) {
                field.pass();
            }
        }
    }

    private record Repeated(SchemaNode node, SchemaNode repeated, Part element) implements Part {
        @Override
        public ColumnCursor first() {
            return element.first();
        }

        @Override
        public void read(ValueTarget to) throws IOException {
            ColumnCursor cursor = first();
            boolean isThere = node == repeated || cursor.definition() >= node.definition();
            if (!isThere) {
                to.putNull();
                pass();
                return;
            }
            NestedTarget array = to.nested();
            array.beginArray();
            if (cursor.definition() < repeated.definition()) { // empty
                pass();
                return;
            }
            int elements = 0;
            do {
                Interrupt.checkSometimes(++elements);
                element.read(array.element());
                array.endElement();
            } while (cursor.isAtValue() && cursor.repetition() == repeated.repetitions());
        }

        @Override
        public void pass() throws IOException {
            element.pass();
        }
    }

    @Override
    public void close() {
        Closing.all(cursors);
    }
}
