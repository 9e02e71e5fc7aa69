package dev.millrace.sketch.schema;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import java.util.Objects;

/**
 * One measured quantity of an observation. Any value may be NULL.
 *
 * @param name unique within a schema
 * @param type DOUBLE, REAL, a whole number, DATE or a timestamp (both as whole numbers), BOOLEAN or text
 * @param bound how far values may be off; exact for BOOLEAN and text
 * @param binning which bins; of no meaning where the bound is exact
 */
public record Feature(String name, DataType type, Bound bound, Binning binning) {
    /** How values are held. */
    public enum Kind {
        /** A double. */
        NUMBER,
        /** A long: whole numbers, dates, times, timestamps. */
        WHOLE,
        /** A long, 0 or 1. */
        BOOLEAN,
        /** A string. */
        TEXT
    }

    public Feature {
        Objects.requireNonNull(name);
        Objects.requireNonNull(bound);
        Objects.requireNonNull(binning);
        Kind kind = kind(type);
        if ((kind == Kind.BOOLEAN || kind == Kind.TEXT) && bound.kind() != Bound.Kind.EXACT) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, name + " is " + type + ", which is always kept exactly");
        }
        if (kind == Kind.WHOLE && binning == Binning.EQUAL_PROBABILITY) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    name + " is " + type + "; equally likely bins are for double precision and real");
        }
    }

    /** A double within a bound, in whichever bins are smallest. */
    public static Feature number(String name, Bound bound) {
        return new Feature(name, DataType.DOUBLE, bound, Binning.SMALLEST);
    }

    /** A whole number within a bound. */
    public static Feature whole(String name, Bound bound) {
        return new Feature(name, DataType.BIGINT, bound, Binning.SMALLEST);
    }

    /** An exact text: a category, or anything else. */
    public static Feature text(String name) {
        return new Feature(name, DataType.TEXT, Bound.exact(), Binning.SMALLEST);
    }

    /** An exact truth value. */
    public static Feature bool(String name) {
        return new Feature(name, DataType.BOOLEAN, Bound.exact(), Binning.SMALLEST);
    }

    public Feature withBinning(Binning newBinning) {
        return new Feature(name, type, bound, newBinning);
    }

    public Feature withBound(Bound newBound) {
        return new Feature(name, type, newBound, binning);
    }

    public Kind kind() {
        return kind(type);
    }

    /** Whether values are doubles of half the size. */
    public boolean isReal() {
        return type.kind() == DataType.Kind.REAL;
    }

    private static Kind kind(DataType type) {
        return switch (type.kind()) {
            case DOUBLE, REAL -> Kind.NUMBER;
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Kind.WHOLE;
            case BOOLEAN -> Kind.BOOLEAN;
            case TEXT, VARCHAR, CHAR, JSONB -> Kind.TEXT;
            case NUMERIC, BIGNUM, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL ->
                throw MillraceException.user(
                                SqlState.FEATURE_NOT_SUPPORTED, "a sketch cannot hold values of type " + type)
                        .withHint("Cast to double precision (within a bound) or to text (exactly).");
        };
    }
}
