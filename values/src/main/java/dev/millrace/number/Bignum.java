package dev.millrace.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Optional;

/**
 * A number of any size as an object: a decimal number with the digits after its point that are shown, NaN, Infinity or
 * -Infinity. Operations give what PostgreSQL 15's {@code numeric} gives, digit by digit, and fail as its do: 22012 for a
 * division by zero, 22003 for a result of more than 131,072 digits before the point. Immutable.
 *
 * <p>Numbers are {@link #equals equal} when they also show the same digits; {@link #compareTo} leaves that out.
 */
public final class Bignum implements Comparable<Bignum> {
    /** The most digits before the point. */
    public static final int MOST_WHOLE_DIGITS = 131_072;

    /** The most digits after the point. */
    public static final int MOST_SCALE = 16_383;

    public static final Bignum NAN = new Bignum(BignumBytes.NAN, BigDecimal.ZERO);
    public static final Bignum INFINITY = new Bignum(BignumBytes.INFINITY, BigDecimal.ZERO);
    public static final Bignum NEGATIVE_INFINITY = new Bignum(BignumBytes.NEGATIVE_INFINITY, BigDecimal.ZERO);
    public static final Bignum ZERO = new Bignum(BignumBytes.ZERO, BigDecimal.ZERO);
    public static final Bignum ONE = new Bignum(BignumBytes.ZERO, BigDecimal.ONE);

    private static final int DOUBLE_DIGITS = 15;
    private static final int REAL_DIGITS = 6;

    private final int header; // of what is not finite; of what is, that of zero
    private final BigDecimal value; // of a scale that is not negative; zero of what is not finite

    private Bignum(int header, BigDecimal value) {
        this.header = header;
        this.value = value;
    }

    /** A number that shows the digits after the point that the value has; 22003 if they, or those before it, are too many. */
    public static Bignum of(BigDecimal value) {
        long whole = (long) value.precision() - value.scale();
        if (value.scale() > MOST_SCALE || whole > MOST_WHOLE_DIGITS && value.signum() != 0) {
            throw overflow();
        }
        return new Bignum(BignumBytes.ZERO, value.scale() < 0 ? value.setScale(0) : value);
    }

    public static Bignum of(long value) {
        return new Bignum(BignumBytes.ZERO, BigDecimal.valueOf(value));
    }

    /** Of the first fifteen significant digits, as PostgreSQL takes them. */
    public static Bignum of(double value) {
        return of(value, DOUBLE_DIGITS);
    }

    /** Of the first six significant digits. */
    public static Bignum of(float value) {
        return of(value, REAL_DIGITS);
    }

    private static Bignum of(double value, int digits) {
        if (Double.isNaN(value)) {
            return NAN;
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? INFINITY : NEGATIVE_INFINITY;
        }
        return of(new BigDecimal(value, new MathContext(digits, RoundingMode.HALF_EVEN)).stripTrailingZeros());
    }

    /** The number of {@link BignumBytes}. */
    public static Bignum at(long address, int length) {
        int header = BignumBytes.header(address);
        int scale = BignumBytes.scale(address, length);
        int[] digits = new int[BignumBytes.digits(length)];
        if (digits.length == 0) {
            return switch (header) {
                case BignumBytes.NAN -> NAN;
                case BignumBytes.INFINITY -> INFINITY;
                case BignumBytes.NEGATIVE_INFINITY -> NEGATIVE_INFINITY;
                default -> new Bignum(BignumBytes.ZERO, BigDecimal.valueOf(0, scale));
            };
        }
        for (int i = 0; i < digits.length; i++) {
            digits[i] = BignumBytes.digit(address, header, i);
        }
        BigInteger number = DecimalDigits.number(digits, 0, digits.length);
        int behind = digits.length - 1 - BignumBytes.exponent(header);
        BigDecimal value =
                new BigDecimal(header < BignumBytes.ZERO ? number.negate() : number, BignumBytes.DIGITS * behind);
        return new Bignum(BignumBytes.ZERO, value.setScale(scale));
    }

    /** The most bytes that {@link #write} writes. */
    public int mostBytes() {
        int digits = value.precision() / BignumBytes.DIGITS + 3;
        return BignumBytes.MOST_FIXED_BYTES + 4 * digits;
    }

    /**
     * Writes it as {@link BignumBytes}.
     *
     * @param address room for {@link #mostBytes}
     * @return how many bytes it takes
     */
    public int write(long address) {
        int scale = value.scale();
        if (!isFinite() || value.signum() == 0) {
            return BignumBytes.finish(address, header, 0, scale, scale > 0);
        }
        int behind = (scale + BignumBytes.DIGITS - 1) / BignumBytes.DIGITS;
        int[] digits = DecimalDigits.of(
                value.setScale(BignumBytes.DIGITS * behind).unscaledValue().abs());
        int from = 0;
        while (digits[from] == 0) {
            from++;
        }
        int to = digits.length;
        while (digits[to - 1] == 0) {
            to--;
        }
        boolean negative = value.signum() < 0;
        for (int i = from; i < to; i++) {
            BignumBytes.putDigit(address, negative, i - from, digits[i]);
        }
        int shown = BignumBytes.header(negative, digits.length - 1 - behind - from);
        int length = BignumBytes.finish(address, shown, to - from, 0, false);
        boolean withScale = scale > BignumBytes.leastScale(address, length);
        return BignumBytes.finish(address, shown, to - from, scale, withScale);
    }

    /** Its bytes. */
    public byte[] toBytes() {
        long address = Memory.allocate(mostBytes());
        try {
            byte[] bytes = new byte[write(address)];
            Memory.copyOut(address, bytes, 0, bytes.length);
            return bytes;
        } finally {
            Memory.free(address);
        }
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    public boolean isNan() {
        return header == BignumBytes.NAN;
    }

    /** Infinity or -Infinity. */
    public boolean isInfinite() {
        return !isFinite() && !isNan();
    }

    /** Neither NaN nor infinite. */
    public boolean isFinite() {
        return header == BignumBytes.ZERO;
    }

    /** The value of a finite number, with the digits after the point that are shown. */
    public BigDecimal value() {
        if (!isFinite()) {
            throw new IllegalStateException(this + " has no digits");
        }
        return value;
    }

    /** -1, 0 or 1; 1 for NaN. */
    public int signum() {
        return isFinite() ? value.signum() : Integer.signum(header - BignumBytes.ZERO);
    }

    /** Digits after the point that are shown; 0 for what is not finite. */
    public int scale() {
        return value.scale();
    }

    /** Whether it has nothing after the point, or is infinite. */
    boolean isWhole() {
        return !isNan() && leastScale(value) == 0;
    }

    // ---- arithmetic ------------------------------------------------------------------------------------------------

    public Bignum add(Bignum other) {
        if (isFinite() && other.isFinite()) {
            return of(value.add(other.value));
        }
        if (isNan() || other.isNan() || isInfinite() && other.isInfinite() && signum() != other.signum()) {
            return NAN;
        }
        return isInfinite() ? this : other;
    }

    public Bignum subtract(Bignum other) {
        return add(other.negate());
    }

    public Bignum negate() {
        return isFinite() ? new Bignum(header, value.negate()) : isNan() ? NAN : infinite(-signum());
    }

    public Bignum abs() {
        return signum() < 0 ? negate() : this;
    }

    private static Bignum infinite(int sign) {
        return sign < 0 ? NEGATIVE_INFINITY : INFINITY;
    }

    /** The exact product, as far as its digits can be shown. */
    public Bignum multiply(Bignum other) {
        if (isFinite() && other.isFinite()) {
            BigDecimal product = value.multiply(other.value);
            return of(product.scale() > MOST_SCALE ? product.setScale(MOST_SCALE, RoundingMode.HALF_UP) : product);
        }
        int sign = signum() * other.signum();
        return isNan() || other.isNan() || sign == 0 ? NAN : infinite(sign);
    }

    /** The quotient to {@link ResultScale#ofQuotient as many digits} as PostgreSQL gives, a half rounded away from zero. */
    public Bignum divide(Bignum other) {
        if (isNan() || other.isNan()) {
            return NAN;
        }
        if (other.signum() == 0) {
            throw divisionByZero();
        }
        if (isInfinite()) {
            return other.isInfinite() ? NAN : infinite(signum() * other.signum());
        }
        return other.isInfinite()
                ? ZERO
                : of(value.divide(other.value, ResultScale.ofQuotient(value, other.value), RoundingMode.HALF_UP));
    }

    /** The quotient without its fraction. */
    public Bignum quotient(Bignum other) {
        if (isNan() || other.isNan()) {
            return NAN;
        }
        if (other.signum() == 0) {
            throw divisionByZero();
        }
        if (isInfinite()) {
            return other.isInfinite() ? NAN : infinite(signum() * other.signum());
        }
        return other.isInfinite() ? ZERO : of(value.divide(other.value, 0, RoundingMode.DOWN));
    }

    /** What {@link #quotient} leaves, of this number's sign. */
    public Bignum mod(Bignum other) {
        if (isNan() || other.isNan()) {
            return NAN;
        }
        if (other.signum() == 0) {
            throw divisionByZero();
        }
        if (isInfinite()) {
            return NAN;
        }
        if (other.isInfinite()) {
            return this;
        }
        int scale = Math.max(scale(), other.scale());
        BigInteger rest = unscaled(scale).remainder(other.unscaled(scale));
        return of(new BigDecimal(rest, scale));
    }

    private BigInteger unscaled(int scale) {
        return value.setScale(scale).unscaledValue();
    }

    /** The greatest common divisor; NaN of what is not finite. */
    public Bignum gcd(Bignum other) {
        if (!isFinite() || !other.isFinite()) {
            return NAN;
        }
        int scale = Math.max(scale(), other.scale());
        return of(new BigDecimal(unscaled(scale).gcd(other.unscaled(scale)), scale));
    }

    /** The least common multiple; NaN of what is not finite. */
    public Bignum lcm(Bignum other) {
        if (!isFinite() || !other.isFinite()) {
            return NAN;
        }
        int scale = Math.max(scale(), other.scale());
        if (signum() == 0 || other.signum() == 0) {
            return of(BigDecimal.valueOf(0, scale));
        }
        BigInteger a = unscaled(scale);
        BigInteger b = other.unscaled(scale);
        return of(new BigDecimal(a.divide(a.gcd(b)).multiply(b).abs(), scale));
    }

    // ---- digits ----------------------------------------------------------------------------------------------------

    /** To so many digits after the point, or before it when negative; digits after the point that are then shown. */
    public Bignum round(int digits, RoundingMode mode) {
        if (!isFinite()) {
            return this;
        }
        int scale = Math.max(-MOST_WHOLE_DIGITS - 1, Math.min(MOST_SCALE, digits)); // beyond them nothing changes
        BigDecimal rounded = value.setScale(scale, mode);
        return of(scale < 0 ? rounded.setScale(0) : rounded);
    }

    /** The same number with so many digits after the point, a half rounded away from zero. */
    public Bignum withScale(int scale) {
        return isFinite() ? of(value.setScale(scale, RoundingMode.HALF_UP)) : this;
    }

    /**
     * The number as a column of so many digits has it, {@code scale} of them after the point or, when negative, zeros before it;
     * empty if it has more before the point than that leaves.
     */
    public Optional<Bignum> limited(int precision, int scale) {
        if (!isFinite()) {
            return isNan() ? Optional.of(this) : Optional.empty();
        }
        BigDecimal rounded = value.setScale(scale, RoundingMode.HALF_UP);
        boolean fits = rounded.signum() == 0 || rounded.precision() <= precision;
        return fits ? Optional.of(of(rounded)) : Optional.empty();
    }

    /** The same number, which shows no zeros at the end of its fraction. */
    public Bignum trimmed() {
        return isFinite() ? withScale(leastScale()) : this;
    }

    /** Digits after the point up to the last that is not zero. */
    public int leastScale() {
        return leastScale(value);
    }

    /** As {@link #leastScale()}; by halving, since a number may end in thousands of zeros. */
    public static int leastScale(BigDecimal value) {
        int least = Math.max(0, value.scale());
        if (value.signum() == 0) {
            return 0;
        }
        BigInteger digits = value.unscaledValue();
        int mostZeros = Math.min(least, digits.getLowestSetBit()); // each zero is a factor of two
        for (int zeros = Integer.highestOneBit(mostZeros); zeros > 0; zeros /= 2) {
            if (zeros <= least) {
                BigInteger[] parts = digits.divideAndRemainder(BigInteger.TEN.pow(zeros));
                if (parts[1].signum() == 0) {
                    digits = parts[0];
                    least -= zeros;
                }
            }
        }
        return least;
    }

    // ---- other types -----------------------------------------------------------------------------------------------

    /** The nearest double; 22003 if it is too large. */
    public double toDouble() {
        if (!isFinite()) {
            return isNan() ? Double.NaN : signum() * Double.POSITIVE_INFINITY;
        }
        double nearest = value.doubleValue();
        if (Double.isInfinite(nearest)) {
            throw outOfRange("double precision");
        }
        return nearest;
    }

    /** A whole number of the type, a half rounded away from zero; 22003 if it does not fit. */
    public long toLong(String type, long least, long most) {
        if (!isFinite()) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED, "cannot convert " + (isNan() ? "NaN" : "infinity") + " to " + type);
        }
        BigDecimal whole = value.setScale(0, RoundingMode.HALF_UP);
        boolean fits =
                whole.compareTo(BigDecimal.valueOf(least)) >= 0 && whole.compareTo(BigDecimal.valueOf(most)) <= 0;
        if (!fits) {
            throw outOfRange(type);
        }
        return whole.longValueExact();
    }

    static MillraceException outOfRange(String type) {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, type + " out of range");
    }

    static MillraceException overflow() {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
    }

    static MillraceException divisionByZero() {
        return MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
    }

    /** By value: NaN is equal to itself and greater than all others. */
    @Override
    public int compareTo(Bignum other) {
        if (isFinite() && other.isFinite()) {
            return value.compareTo(other.value);
        }
        return Integer.compare(rank(), other.rank());
    }

    private int rank() {
        return isNan() ? 2 : isFinite() ? 0 : signum();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bignum number && header == number.header && value.equals(number.value);
    }

    @Override
    public int hashCode() {
        return 31 * header + value.hashCode();
    }

    /** PostgreSQL's text. */
    @Override
    public String toString() {
        return switch (header) {
            case BignumBytes.NAN -> "NaN";
            case BignumBytes.INFINITY -> "Infinity";
            case BignumBytes.NEGATIVE_INFINITY -> "-Infinity";
            default -> value.toPlainString();
        };
    }
}
