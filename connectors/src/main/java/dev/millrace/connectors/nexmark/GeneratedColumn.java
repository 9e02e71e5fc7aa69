package dev.millrace.connectors.nexmark;

import dev.millrace.batch.Vectors;
import dev.millrace.connectors.random.NumberedRows;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * A column of a table: how to make the values of consecutive ordinals.
 *
 * @param field never NULL
 */
record GeneratedColumn(Field field, Generator generator) implements NumberedRows.Column {
    /** Makes {@code rows} values from the ordinal {@code first} on. */
    interface Generator {
        FieldVector generate(Field field, long first, int rows, BufferAllocator allocator);
    }

    /** Writes 64-bit values of consecutive events of one group. */
    interface LongWriter {
        void write(long group, long event, long to, int rows);
    }

    /**
     * Writes texts of consecutive events of one group from {@code data + at} on, up to 8 bytes further than they need,
     * and after each the offset at which it ends. Returns the last of those.
     */
    interface TextWriter {
        int write(long group, long event, long data, int at, long endOffsets, int rows);
    }

    @Override
    public FieldVector generate(long first, int rows, BufferAllocator allocator) {
        return generator.generate(field, first, rows, allocator);
    }

    static GeneratedColumn ofLongs(Kind kind, Field field, LongWriter writer) {
        return new GeneratedColumn(field, (to, first, rows, allocator) -> {
            FieldVector vector = Vectors.allocate(to, rows, 0, allocator);
            long data = vector.getDataBufferAddress();
            eachGroup(
                    kind,
                    first,
                    rows,
                    (group, event, row, count) -> writer.write(group, event, data + 8L * row, count));
            return finished(vector, rows);
        });
    }

    static GeneratedColumn ofTexts(Kind kind, Field field, int mostBytes, TextWriter writer) {
        return new GeneratedColumn(field, (to, first, rows, allocator) -> {
            FieldVector vector = Vectors.allocate(to, rows, (long) mostBytes * rows + Long.BYTES, allocator);
            long data = vector.getDataBufferAddress();
            long endOffsets = vector.getOffsetBufferAddress() + Integer.BYTES;
            int[] at = {0};
            eachGroup(
                    kind,
                    first,
                    rows,
                    (group, event, row, count) ->
                            at[0] = writer.write(group, event, data, at[0], endOffsets + 4L * row, count));
            return finished(vector, rows);
        });
    }

    private interface GroupVisitor {
        void visit(long group, long event, int row, int count);
    }

    /** What all events of a group share is computed once per group: per-row code sees one group at a time. */
    private static void eachGroup(Kind kind, long first, int rows, GroupVisitor visitor) {
        long ordinal = first;
        long end = first + rows;
        while (ordinal < end) {
            long group = ordinal / kind.perGroup();
            int count = (int) (Math.min(end, (group + 1) * kind.perGroup()) - ordinal);
            visitor.visit(group, kind.event(ordinal), (int) (ordinal - first), count);
            ordinal += count;
        }
    }

    private static FieldVector finished(FieldVector vector, int rows) {
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }
}
