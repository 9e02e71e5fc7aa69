package dev.millrace.edge.program;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/** What several programs together need of the rows of a stream: those that any of them needs, with all the columns that any of them reads. Of one thread. */
public final class RowNeeds {
    private final BitSet columns = new BitSet();
    private final List<Evaluation> conditions = new ArrayList<>();
    private boolean all; // one of them has no condition

    /**
     * Programs over the columns of a device.
     *
     * @throws MillraceException 42804 if a column is of another kind than one of them says
     */
    public RowNeeds(Collection<RowProgram> programs, Schema schema) {
        for (RowProgram program : programs) {
            for (String name : program.columns()) {
                int column = indexOf(name, schema);
                if (column >= 0) {
                    columns.set(column);
                }
            }
            program.condition().ifPresent(condition -> conditions.add(bound(condition, schema)));
            all |= program.condition().isEmpty();
        }
    }

    /** Whether anybody reads a column. */
    public boolean reads(int column) {
        return columns.get(column);
    }

    /** Whether anybody needs a row; who cannot tell does. */
    public boolean needs(RowValues values, int row) {
        if (all) {
            return true;
        }
        for (Evaluation condition : conditions) {
            try {
                condition.of(values, row);
            } catch (ArithmeticException e) { // an overflow: the server finds out what becomes of it
                return true;
            }
            if (condition.isTrue()) {
                return true;
            }
        }
        return false;
    }

    /** As the server finds a stream's columns among a device's. */
    static int indexOf(String name, Schema schema) {
        int exact = schema.indexOf(name);
        for (int i = 0; exact < 0 && i < schema.size(); i++) {
            if (schema.field(i).name().equalsIgnoreCase(name)) {
                return i;
            }
        }
        return exact;
    }

    /** A term over the columns of a device. */
    static Evaluation bound(Term term, Schema schema) {
        if (term instanceof Term.Column column) {
            int index = indexOf(column.name(), schema);
            if (index >= 0 && kind(schema.field(index).type()) != column.kind()) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "column \"" + column.name() + "\" is "
                                + schema.field(index).type() + " at the device, and a query has it as "
                                + column.kind());
            }
            return index < 0 ? Evaluation.nothing() : Evaluation.column(column.kind(), index);
        } else if (term instanceof Term.Call call) {
            return Evaluation.call(
                    call,
                    call.arguments().stream()
                            .map(argument -> bound(argument, schema))
                            .toList());
        }
        return Evaluation.constant(term);
    }

    private static Term.Kind kind(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Term.Kind.TRUTH;
            case SMALLINT, INTEGER, BIGINT, DATE, TIMESTAMP, TIMESTAMPTZ -> Term.Kind.WHOLE;
            case REAL, DOUBLE -> Term.Kind.NUMBER;
            case TEXT -> Term.Kind.TEXT;
            default -> throw new IllegalStateException("no column of a device is " + type);
        };
    }
}
