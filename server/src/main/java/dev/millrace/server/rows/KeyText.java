package dev.millrace.server.rows;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.type.DataType;
import java.util.Optional;

/** Values as texts that are the same where the values are equal. Stateless. */
public final class KeyText {
    private KeyText() {}

    /** Empty for NULL. */
    public static Optional<String> of(Batch rows, int column, int row) {
        boolean isBignum = rows.schema().type(column).kind() == DataType.Kind.BIGNUM;
        return isBignum && !rows.column(column).isNull(row)
                ? Optional.of(number(rows, column, row))
                : ValueText.format(rows, column, row);
    }

    /** Without zeros at the end of a fraction. */
    private static String number(Batch rows, int column, int row) {
        long offsets = rows.offsetsAddress(column) + 4L * row;
        int from = Memory.getInt(offsets);
        int length = BignumBytes.keyLength(Memory.getInt(offsets + 4) - from);
        return Bignum.at(rows.dataAddress(column) + from, length).toString();
    }
}
