package dev.millrace.sketch.query;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.schema.Feature;

/**
 * A column's symbols as points on one line of longs, each with how far the true values reach: whole numbers as they are, all 64
 * bits of them, and doubles so that the order is SQL's, with one NaN above all, and one 0. Immutable.
 */
final class Points {
    final boolean whole;
    final int size; // the rank of NULL
    final NumberSymbols symbols;
    private long[] keys = {}; // by rank; made when first asked for

    Points(Column column, Feature feature) {
        this.symbols = column.numbers();
        this.whole = feature.kind() != Feature.Kind.NUMBER;
        this.size = symbols.size();
    }

    double value(int rank) {
        return symbols.values()[rank];
    }

    /** How far the true values of a finite symbol may be away. */
    double error(int rank) {
        return symbols.error(rank);
    }

    long key(int rank) {
        if (keys.length == 0) {
            long[] all = new long[size];
            double[] values = symbols.values();
            for (int r = 0; r < size; r++) {
                all[r] = whole ? symbols.whole(r) : key(values[r]);
            }
            keys = all;
        }
        return keys[rank];
    }

    /** The lowest that the true values may be. */
    long low(int rank) {
        double error = symbols.error(rank);
        return error == 0 ? key(rank) : whole ? minus(key(rank), error) : key(down(value(rank), error));
    }

    /** The highest that the true values may be. */
    long high(int rank) {
        double error = symbols.error(rank);
        return error == 0 ? key(rank) : whole ? plus(key(rank), error) : key(up(value(rank), error));
    }

    private static double down(double value, double error) {
        return Double.isFinite(value) ? Math.nextDown(value - error) : value;
    }

    private static double up(double value, double error) {
        return Double.isFinite(value) ? Math.nextUp(value + error) : value;
    }

    private static long plus(long value, double error) {
        long most = ceil(error);
        return value > Long.MAX_VALUE - most ? Long.MAX_VALUE : value + most;
    }

    private static long minus(long value, double error) {
        long most = ceil(error);
        return value < Long.MIN_VALUE + most ? Long.MIN_VALUE : value - most;
    }

    private static long ceil(double error) {
        return (long) Math.ceil(error);
    }

    /** How far the true values of a whole number may be away, as a whole number. */
    long wholeError(int rank) {
        return ceil(symbols.error(rank));
    }

    static long key(double value) {
        long bits = Double.doubleToLongBits(value + 0.0);
        return bits ^ bits >> 63 & Long.MAX_VALUE;
    }

    static double value(long key) {
        return Double.longBitsToDouble(key ^ key >> 63 & Long.MAX_VALUE);
    }

    /** The largest double that is not above a point. */
    static double doubleBelow(long key, boolean whole) {
        if (!whole) {
            return value(key);
        }
        double near = (double) key;
        return near >= 0x1p63 || (long) near > key ? Math.nextDown(near) : near;
    }

    /** The smallest double that is not below a point. */
    static double doubleAbove(long key, boolean whole) {
        if (!whole) {
            return value(key);
        }
        double near = (double) key;
        return near < 0x1p63 && (long) near < key ? Math.nextUp(near) : near;
    }

    static double near(long key, boolean whole) {
        return whole ? key : value(key);
    }
}
