package dev.millrace.expressions.python;

import dev.millrace.error.MillraceException;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A function in Python.
 *
 * @param entry the name by which its source defines it
 * @param isStrict whether it is NULL, and not called, where an argument is
 * @param isVectorized whether it is given pyarrow's arrays and not values
 */
public record PythonFunction(
        String entry,
        String source,
        List<DataType> parameters,
        DataType returns,
        boolean isStrict,
        boolean isVectorized) {
    /** @throws MillraceException 0A000 for a type that has no form there */
    public PythonFunction {
        parameters = List.copyOf(parameters);
        parameters.forEach(type -> nameOf(type, false));
        nameOf(returns, true);
    }

    /** All of it as texts, which are also what it is known by. */
    public List<String> texts() {
        List<String> texts = new ArrayList<>(
                List.of(entry, source, isStrict ? "1" : "0", isVectorized ? "1" : "0", nameOf(returns, true)));
        parameters.forEach(type -> texts.add(nameOf(type, false)));
        return texts;
    }

    /** What a type is called in {@code worker.py}. */
    private static String nameOf(DataType type, boolean isResult) {
        return switch (type.kind()) {
            case BOOLEAN,
                    SMALLINT,
                    INTEGER,
                    BIGINT,
                    REAL,
                    DOUBLE,
                    TEXT,
                    BYTEA,
                    DATE,
                    TIME,
                    TIMESTAMP,
                    TIMESTAMPTZ,
                    UUID -> type.kind().name().toLowerCase(Locale.ROOT);
            case NUMERIC -> "numeric:" + type.precision() + ":" + type.scale();
            case VARCHAR -> "text";
            case JSONB -> {
                if (isResult) {
                    throw refused(type, "RETURNS TEXT, and a cast of the call to JSONB");
                }
                yield "text";
            }
            case BIGNUM -> throw refused(type, "NUMERIC(38, 10) or another of so many digits");
            case CHAR, INTERVAL, ARRAY, ROW, NULL ->
                throw refused(
                        type,
                        "numbers, boolean, text, bytea, dates, times and uuid are; cast the argument, or the result");
        };
    }

    private static MillraceException refused(DataType type, String hint) {
        return MillraceException.notAvailableYet("type " + type + " for a function in Python")
                .withHint(hint);
    }
}
