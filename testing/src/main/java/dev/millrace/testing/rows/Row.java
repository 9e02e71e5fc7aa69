package dev.millrace.testing.rows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row, in canonical form by kind of type:
 *
 * <pre>
 * BOOLEAN                           Boolean
 * SMALLINT, INTEGER, BIGINT         Long
 * REAL, DOUBLE                      Double (0.0 for -0.0)
 * NUMERIC                           BigDecimal of the type's scale
 * BIGNUM                            Bignum that shows no zeros at its end
 * TEXT, VARCHAR, CHAR, JSONB        String
 * BYTEA                             List of Byte
 * DATE, TIME, TIMESTAMP(TZ)         Long, in the type's unit (days, microseconds)
 * INTERVAL                          Interval
 * UUID                              UUID
 * ARRAY, ROW                        List of values
 * NULL                              null: tests are the one place where it is a value
 * </pre>
 */
public record Row(List<Object> values) {
    public Row {
        values = Collections.unmodifiableList(new ArrayList<>(values));
    }

    /** A row of these values; {@link TestBatches} accepts looser forms, such as Integer for BIGINT. */
    public static Row of(@Nullable Object... values) {
        return new Row(Arrays.asList(values));
    }

    /** Months, days and microseconds, as PostgreSQL keeps an interval. */
    public record Interval(int months, int days, long micros) {}

    public Object get(int column) {
        return values.get(column);
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
