package dev.millrace.expressions.function.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TextBuffer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

/** TO_CHAR and TO_NUMBER of numbers. A double is written by its 15 significant digits, as PostgreSQL does. */
public final class NumberPattern {
    private static final int DOUBLE_DIGITS = 15;
    private static final int EXPONENT_PLACES = 4;

    private final Pattern template = new Pattern();
    private NumberTemplate parsed = NumberTemplate.parse("");

    public void prepare(long address, int length) {
        if (template.changed(address, length)) {
            template.forget();
            parsed = NumberTemplate.parse(template.text());
            template.remember();
        }
    }

    public void formatBigint(long value, Text out) {
        format(BigDecimal.valueOf(value), out);
    }

    public void formatNumeric(long high, long low, int scale, Text out) {
        format(Decimals.decimal(high, low, scale), out);
    }

    /** A number of any size. */
    public void formatBignum(long address, int length, Text out) {
        if (BignumBytes.isFinite(address)) {
            format(Bignum.at(address, length).value(), out);
        } else {
            formatEndless(out);
        }
    }

    public void formatDouble(double value, Text out) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            formatEndless(out);
            return;
        }
        format(new BigDecimal(value).round(new MathContext(DOUBLE_DIGITS, RoundingMode.HALF_EVEN)), out);
    }

    private void formatEndless(Text out) {
        // A column of numbers does not lose its shape: PostgreSQL fills the digits with #.
        TextBuffer buffer = out.begin();
        buffer.appendAscii(" " + "#".repeat(parsed.integerDigits()));
        int exponent = parsed.has(NumberTemplate.Kind.EXPONENT) ? EXPONENT_PLACES : 0;
        if (parsed.scale() > 0) {
            buffer.appendAscii("." + "#".repeat(parsed.scale() + exponent));
        }
        out.written();
    }

    private void format(BigDecimal value, Text out) {
        out.begin().append(new NumberFormatter(parsed, value).toString().getBytes(StandardCharsets.UTF_8));
        out.written();
    }

    /** The digits, sign and point of a text; what else the template has is passed over. */
    public void parse(long address, int length, int scale, Int128 out) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        String text = new String(bytes, StandardCharsets.UTF_8);
        boolean negative = false;
        boolean point = false;
        StringBuilder digits = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (Character.isDigit(c)) {
                boolean room = point
                        ? digits.length() - digits.indexOf(".") - 1 < parsed.scale()
                        : digits.length() < parsed.integerDigits();
                if (room) {
                    digits.append(c);
                }
            } else if (c == '-' || c == '<') {
                negative = true;
            } else if (c == '.' && parsed.scale() > 0 && !point) {
                point = true;
                digits.append(c);
            }
        }
        if (digits.chars().noneMatch(Character::isDigit)) {
            throw MillraceException.user(
                    SqlState.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type numeric: \" \"");
        }
        BigInteger unscaled = new BigDecimal(digits.toString())
                .movePointLeft(parsed.shift())
                .setScale(scale, RoundingMode.HALF_UP)
                .unscaledValue();
        BigInteger signed = negative ? unscaled.negate() : unscaled;
        if (signed.bitLength() > 126) {
            throw Decimals.overflow();
        }
        out.set(signed.shiftRight(64).longValue(), signed.longValue());
    }
}
