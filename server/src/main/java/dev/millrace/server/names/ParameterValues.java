package dev.millrace.server.names;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.text.Utf8Text;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Java values for {@code $n}: their texts, and their types where the Java type says it. */
public record ParameterValues(List<DataType> types, List<Optional<String>> texts) {
    private static final int MOST_DIGITS = 16_383;

    public static ParameterValues of(List<?> values) {
        List<DataType> types = new ArrayList<>();
        List<Optional<String>> texts = new ArrayList<>();
        for (Object value : values) {
            Object plain = value instanceof Optional<?> optional && optional.isPresent() ? optional.get() : value;
            types.add(typeOf(plain));
            texts.add(plain instanceof Optional ? Optional.empty() : Optional.of(text(plain)));
        }
        return new ParameterValues(types, texts);
    }

    public Parameters forStatement(int count) {
        if (count > texts.size()) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_PARAMETER,
                    "the statement has " + count + " parameters, but " + texts.size() + " values were given");
        }
        return Parameters.of(types, texts);
    }

    /** Text, and what has several possible SQL types, is left to be inferred, as PostgreSQL does with unknown literals. */
    private static DataType typeOf(Object value) {
        if (value instanceof Boolean) {
            return DataType.BOOLEAN;
        } else if (value instanceof Integer || value instanceof Short) {
            return DataType.INTEGER;
        } else if (value instanceof Long) {
            return DataType.BIGINT;
        } else if (value instanceof Double) {
            return DataType.DOUBLE;
        } else if (value instanceof Float) {
            return DataType.REAL;
        } else if (value instanceof BigDecimal decimal) {
            int scale = Math.max(0, decimal.scale());
            int whole = Math.max(0, decimal.precision() - decimal.scale());
            return whole + scale > DataType.MAX_NUMERIC_PRECISION
                    ? DataType.NULL
                    : DataType.numeric(Math.max(1, whole + scale), scale);
        } else if (value instanceof Instant || value instanceof OffsetDateTime) {
            return DataType.TIMESTAMPTZ;
        } else if (value instanceof LocalDateTime) {
            return DataType.TIMESTAMP;
        }
        return DataType.NULL;
    }

    private static String text(Object value) {
        if (value instanceof byte[] bytes) {
            return "\\x" + HexFormat.of().formatHex(bytes);
        } else if (value instanceof BigDecimal decimal) {
            if (Math.abs((long) decimal.scale()) > MOST_DIGITS || decimal.precision() > MOST_DIGITS) {
                throw MillraceException.user(
                        SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                        "value overflows numeric format"); // or a text of gigabytes
            }
            return decimal.toPlainString();
        }
        return Utf8Text.checked(value.toString());
    }
}
