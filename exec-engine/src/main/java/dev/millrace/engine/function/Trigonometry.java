package dev.millrace.engine.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** Trigonometric and hyperbolic functions; what has no real result is an error, as in PostgreSQL. */
public final class Trigonometry {
    private Trigonometry() {}

    private static MillraceException inputOutOfRange() {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range");
    }

    private static double finite(double angle) {
        if (Double.isInfinite(angle)) {
            throw inputOutOfRange();
        }
        return angle;
    }

    private static double checked(double result, double argument) {
        if (Double.isInfinite(result) && !Double.isInfinite(argument)) {
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow");
        }
        return result;
    }

    public static double pi() {
        return Math.PI;
    }

    public static double degrees(double radians) {
        return checked(radians / (Math.PI / 180), radians);
    }

    public static double radians(double degrees) {
        return degrees * (Math.PI / 180);
    }

    public static double sin(double angle) {
        return Math.sin(finite(angle));
    }

    public static double cos(double angle) {
        return Math.cos(finite(angle));
    }

    public static double tan(double angle) {
        return Math.tan(finite(angle));
    }

    public static double cot(double angle) {
        return 1 / Math.tan(finite(angle)); // infinite at 0, as in PostgreSQL
    }

    public static double asin(double value) {
        return Math.asin(withinOne(value));
    }

    public static double acos(double value) {
        return Math.acos(withinOne(value));
    }

    private static double withinOne(double value) {
        if (value < -1 || value > 1) {
            throw inputOutOfRange();
        }
        return value;
    }

    public static double atan(double value) {
        return Math.atan(value);
    }

    public static double atan2(double y, double x) {
        return Math.atan2(y, x);
    }

    public static double sinh(double value) {
        return Math.sinh(value); // infinity where it overflows, as in PostgreSQL
    }

    public static double cosh(double value) {
        return Math.cosh(value);
    }

    public static double tanh(double value) {
        return Math.tanh(value);
    }
}
