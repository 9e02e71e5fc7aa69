package dev.millrace.expressions.function.number;

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

    public static double asinh(double value) {
        double size = Math.abs(value);
        double square = size * size;
        double result =
                size > 1e8 ? Math.log(size) + Math.log(2) : Math.log1p(size + square / (1 + Math.sqrt(1 + square)));
        return Math.copySign(result, value);
    }

    public static double acosh(double value) {
        if (value < 1) {
            throw inputOutOfRange();
        }
        return value > 1e8 ? Math.log(value) + Math.log(2) : Math.log(value + Math.sqrt(value * value - 1));
    }

    public static double atanh(double value) {
        return 0.5 * Math.log1p(2 * withinOne(value) / (1 - value));
    }

    // Of angles in degrees: exact where the result is, as in PostgreSQL.

    public static double sind(double degrees) {
        double angle = finite(degrees) % 360;
        double sign = angle < 0 ? -1 : 1;
        angle = Math.abs(angle);
        if (angle > 180) {
            angle = 360 - angle;
            sign = -sign;
        }
        return sign * sineOfFirstHalf(angle > 90 ? 180 - angle : angle);
    }

    public static double cosd(double degrees) {
        double angle = Math.abs(finite(degrees) % 360);
        angle = angle > 180 ? 360 - angle : angle;
        return angle > 90 ? -sineOfFirstHalf(angle - 90) : sineOfFirstHalf(90 - angle);
    }

    /** The sine of 0 to 90 degrees; 30 has exactly one half. */
    private static double sineOfFirstHalf(double degrees) {
        return degrees <= 45
                ? Math.sin(Math.toRadians(degrees)) / Math.sin(Math.toRadians(30)) / 2
                : degrees == 90
                        ? 1
                        : 1 - (1 - Math.cos(Math.toRadians(90 - degrees))) / (1 - Math.cos(Math.toRadians(60))) / 2;
    }

    public static double tand(double degrees) {
        double angle = finite(degrees) % 180;
        return Math.abs(angle) == 45
                ? Math.signum(angle)
                : Math.abs(angle) == 135 ? -Math.signum(angle) : 0.0 + sind(degrees) / cosd(degrees); // no -0
    }

    public static double cotd(double degrees) {
        double angle = finite(degrees) % 180;
        return Math.abs(angle) == 45
                ? Math.signum(angle)
                : Math.abs(angle) == 135 ? -Math.signum(angle) : 0.0 + cosd(degrees) / sind(degrees);
    }

    public static double asind(double value) {
        return Math.abs(withinOne(value)) <= 0.5
                ? Math.asin(value) / Math.asin(0.5) * 30
                : Math.copySign(90 - Math.acos(Math.abs(value)) / Math.acos(0.5) * 60, value);
    }

    public static double acosd(double value) {
        return value < 0 ? 180 - acosd(-withinOne(value)) : 90 - asind(value);
    }

    public static double atand(double value) {
        return Math.atan(value) / Math.atan(1) * 45;
    }

    public static double atan2d(double y, double x) {
        return Math.atan2(y, x) / Math.atan(1) * 45;
    }
}
