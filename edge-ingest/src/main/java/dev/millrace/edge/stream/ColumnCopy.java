package dev.millrace.edge.stream;

import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.type.DataType;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Values of one column into rows of an encoder, over raw memory: no object for a number. */
final class ColumnCopy {
    private final int feature;
    private final DataType.Kind kind;
    private final KnownTexts texts = new KnownTexts();
    private long data;
    private long validity;
    private long offsets;

    ColumnCopy(int feature, DataType type) {
        this.feature = feature;
        this.kind = type.kind();
    }

    /** Of all columns of a stream; the time is no feature of its encoder. */
    static ColumnCopy[] of(StreamConfig stream) {
        ColumnCopy[] copies = new ColumnCopy[stream.columns().size()];
        int feature = 0;
        for (int column = 0; column < copies.length; column++) {
            copies[column] =
                    new ColumnCopy(feature, stream.columns().field(column).type());
            feature += stream.time().equals(Optional.of(column)) ? 0 : 1;
        }
        return copies;
    }

    /** Reads this vector from now on, which lives as long as rows are copied. */
    void of(FieldVector vector) {
        data = vector.getDataBufferAddress();
        validity = vector.getValidityBufferAddress();
        offsets = kind == DataType.Kind.TEXT ? vector.getOffsetBufferAddress() : 0;
    }

    boolean isNull(int row) {
        return !Memory.getBit(validity, row);
    }

    /** Of an integer, a date or a timestamp. */
    long whole(int row) {
        return switch (kind) {
            case BIGINT, TIMESTAMP, TIMESTAMPTZ -> Memory.getLong(data + 8L * row);
            case INTEGER, DATE -> Memory.getInt(data + 4L * row);
            case SMALLINT -> Memory.getShort(data + 2L * row);
            default -> throw new IllegalStateException(kind + " is no whole number");
        };
    }

    /** Of REAL or DOUBLE. */
    double number(int row) {
        return kind == DataType.Kind.REAL
                ? Float.intBitsToFloat(Memory.getInt(data + 4L * row))
                : Double.longBitsToDouble(Memory.getLong(data + 8L * row));
    }

    boolean truth(int row) {
        return Memory.getBit(data, row);
    }

    String text(int row) {
        int from = Memory.getInt(offsets + 4L * row);
        return texts.text(data + from, Memory.getInt(offsets + 4L * row + 4) - from);
    }

    void copy(int row, Observations to) {
        if (isNull(row)) {
            return;
        }
        switch (kind) {
            case DOUBLE, REAL -> to.number(feature, number(row));
            case BIGINT, TIMESTAMP, TIMESTAMPTZ, INTEGER, DATE, SMALLINT -> to.whole(feature, whole(row));
            case BOOLEAN -> to.bool(feature, truth(row));
            case TEXT -> to.text(feature, text(row));
            default -> throw new IllegalStateException("no column of an edge stream is " + kind);
        }
    }
}
