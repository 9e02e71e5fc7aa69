package dev.millrace.expressions.function.jsonpath;

import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.jsonpath.JsonPath.Nothing;
import dev.millrace.expressions.function.jsonpath.JsonPath.Part;
import dev.millrace.expressions.function.jsonpath.PathEvaluation.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** What paths do with single values: arithmetic with PostgreSQL's digits, comparisons, conversions. Stateless. */
final class PathNumbers {
    private static final int LEAST_DIGITS = 16; // of a quotient, about
    private static final int LIMB_DIGITS = 4; // of PostgreSQL's numbers, which it counts digits by

    private PathNumbers() {}

    static BigDecimal compute(char operator, BigDecimal left, BigDecimal right) {
        if ((operator == '/' || operator == '%') && right.signum() == 0) {
            throw new Failure(SqlState.DIVISION_BY_ZERO, "division by zero");
        }
        return switch (operator) {
            case '+' -> left.add(right);
            case '-' -> left.subtract(right);
            case '*' -> left.multiply(right);
            case '/' -> left.divide(right, quotientScale(left, right), RoundingMode.HALF_UP);
            default -> left.remainder(right).setScale(Math.max(left.scale(), right.scale()), RoundingMode.UNNECESSARY);
        };
    }

    /** As many digits as PostgreSQL gives a quotient: select_div_scale. */
    private static int quotientScale(BigDecimal left, BigDecimal right) {
        int weight = weight(left) - weight(right) - (firstLimb(left) <= firstLimb(right) ? 1 : 0);
        return Math.max(Math.max(0, LEAST_DIGITS - LIMB_DIGITS * weight), Math.max(left.scale(), right.scale()));
    }

    /** Of the first digit that is not zero, in limbs from the point. */
    private static int weight(BigDecimal number) {
        return number.signum() == 0 ? 0 : Math.floorDiv(number.precision() - number.scale() - 1, LIMB_DIGITS);
    }

    private static int firstLimb(BigDecimal number) {
        return number.signum() == 0
                ? 0
                : number.abs().movePointLeft(LIMB_DIGITS * weight(number)).intValue();
    }

    /** Empty where values are of different kinds, or no scalars; null equals itself and differs from all else. */
    static Optional<Boolean> compare(String operator, Object left, Object right) {
        if (left instanceof Part || right instanceof Part) {
            return left == Nothing.NULL || right == Nothing.NULL
                    ? Optional.of(operator.equals("!="))
                    : Optional.empty();
        }
        if (left == Nothing.NULL || right == Nothing.NULL) {
            return Optional.of(left == right ? holds(operator, 0) : operator.equals("!="));
        }
        if (left instanceof BigDecimal a && right instanceof BigDecimal b) {
            return Optional.of(holds(operator, a.compareTo(b)));
        } else if (left instanceof String a && right instanceof String b) {
            int order = Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
            return Optional.of(holds(operator, order));
        } else if (left instanceof Boolean a && right instanceof Boolean b) {
            return Optional.of(holds(operator, Boolean.compare(a, b)));
        }
        return Optional.empty();
    }

    private static boolean holds(String operator, int order) {
        return switch (operator) {
            case "==" -> order == 0;
            case "!=" -> order != 0;
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            default -> order >= 0;
        };
    }

    /** A method of a single item. */
    static Object called(String method, Object item) {
        return switch (method) {
            case "ceiling" -> number(method, item).setScale(0, RoundingMode.CEILING);
            case "floor" -> number(method, item).setScale(0, RoundingMode.FLOOR);
            case "abs" -> number(method, item).abs();
            case "double" -> {
                double value = parsed(method, item).doubleValue();
                if (Double.isInfinite(value)) {
                    throw invalid(method, item, "double precision");
                }
                BigDecimal decimal = new BigDecimal(Double.toString(value)).stripTrailingZeros();
                yield decimal.scale() < 0 ? decimal.setScale(0) : decimal;
            }
            case "number" -> parsed(method, item);
            case "integer" -> whole(method, item, 31);
            case "bigint" -> whole(method, item, 63);
            case "boolean" -> truth(item);
            default -> {
                if (item instanceof Part || item == Nothing.NULL) {
                    throw wrong(method, "a boolean, string, numeric, or datetime value");
                }
                yield item instanceof BigDecimal decimal ? decimal.toPlainString() : item.toString();
            }
        };
    }

    private static BigDecimal number(String method, Object item) {
        if (item instanceof BigDecimal number) {
            return number;
        }
        throw wrong(method, "a numeric value");
    }

    private static BigDecimal parsed(String method, Object item) {
        if (item instanceof String text) {
            try {
                return PathEvaluation.number(text.strip());
            } catch (NumberFormatException e) {
                throw invalid(method, item, method.equals("double") ? "double precision" : "numeric");
            }
        }
        if (item instanceof BigDecimal number) {
            return number;
        }
        throw wrong(method, "a string or numeric value");
    }

    private static BigDecimal whole(String method, Object item, int bits) {
        BigInteger whole =
                parsed(method, item).setScale(0, RoundingMode.HALF_UP).toBigInteger();
        if (whole.bitLength() > bits) {
            throw invalid(method, item, method);
        }
        return new BigDecimal(whole);
    }

    private static Boolean truth(Object item) {
        if (item instanceof Boolean known) {
            return known;
        }
        if (item instanceof BigDecimal number) {
            return number.signum() != 0;
        }
        if (item instanceof String text) {
            switch (text.toLowerCase(java.util.Locale.ROOT)) {
                case "t", "true", "y", "yes", "on", "1" -> {
                    return true;
                }
                case "f", "false", "n", "no", "off", "0" -> {
                    return false;
                }
                default -> throw invalid("boolean", item, "boolean");
            }
        }
        throw wrong("boolean", "a boolean, string, or numeric value");
    }

    private static Failure wrong(String method, String what) {
        return new Failure(
                SqlState.JSON_NUMBER_NOT_FOUND,
                "jsonpath item method ." + method + "() can only be applied to " + what);
    }

    private static Failure invalid(String method, Object item, String type) {
        return new Failure(
                SqlState.JSON_NUMBER_NOT_FOUND,
                "argument \"" + item + "\" of jsonpath item method ." + method + "() is invalid for type " + type);
    }
}
