package dev.millrace.expressions.function.number;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Writes one number by a {@link NumberTemplate}. */
public final class NumberFormatter {
    private static final int ROMAN_WIDTH = 15;
    private static final int[] ROMAN_VALUES = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
    private static final String[] ROMAN_DIGITS = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"
    };

    private final NumberTemplate template;
    private final boolean negative;
    private final BigDecimal magnitude;
    private final StringBuilder out = new StringBuilder();

    NumberFormatter(NumberTemplate template, BigDecimal value) {
        this.template = template;
        BigDecimal shifted = value.movePointRight(template.shift());
        this.magnitude = shifted.abs().setScale(template.scale(), RoundingMode.HALF_UP);
        this.negative = value.signum() < 0 && magnitude.signum() != 0 || value.signum() < 0 && isExponent(template);
        if (isExponent(template)) {
            exponent(value);
        } else if (template.has(NumberTemplate.Kind.ROMAN)) {
            roman(value);
        } else {
            digits();
        }
    }

    private static boolean isExponent(NumberTemplate template) {
        return template.has(NumberTemplate.Kind.EXPONENT);
    }

    private void exponent(BigDecimal value) {
        BigDecimal rounded = value.round(new MathContext(template.scale() + 1, RoundingMode.HALF_UP));
        int exponent = rounded.signum() == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        BigDecimal mantissa = rounded.movePointLeft(exponent).setScale(template.scale(), RoundingMode.HALF_UP);
        String text = mantissa.toPlainString()
                + "e"
                + (exponent < 0 ? "-" : "+")
                + (Math.abs(exponent) < 10 ? "0" : "")
                + Math.abs(exponent);
        out.append(value.signum() < 0 ? "" : " ").append(text);
    }

    private void roman(BigDecimal value) {
        int number = value.setScale(0, RoundingMode.HALF_UP).intValue();
        StringBuilder numeral = new StringBuilder();
        if (number < 1 || number > 3999) {
            numeral.append("#".repeat(ROMAN_WIDTH));
        } else {
            int rest = number;
            for (int i = 0; i < ROMAN_VALUES.length; i++) {
                for (; rest >= ROMAN_VALUES[i]; rest -= ROMAN_VALUES[i]) {
                    numeral.append(ROMAN_DIGITS[i]);
                }
            }
        }
        boolean lower = template.parts().stream().anyMatch(part -> part.text().equals("rn"));
        String text = lower ? numeral.toString().toLowerCase(Locale.ROOT) : numeral.toString();
        out.append(template.fill() ? " ".repeat(Math.max(0, ROMAN_WIDTH - text.length())) : "")
                .append(text);
    }

    private void digits() {
        String integer =
                magnitude.setScale(0, RoundingMode.DOWN).unscaledValue().toString();
        if (magnitude.compareTo(BigDecimal.ONE) < 0) {
            integer = ""; // a zero before the point is written only where the template has one
        }
        boolean overflow = integer.length() > template.integerDigits();
        String fraction = template.scale() == 0
                ? ""
                : magnitude
                        .remainder(BigDecimal.ONE)
                        .unscaledValue()
                        .add(BigInteger.TEN.pow(template.scale()))
                        .toString()
                        .substring(1);
        int lead = template.integerDigits() - integer.length(); // places without a digit of the number
        int begin = Math.min(Math.max(lead, 0), template.firstZero()); // the first place that shows a digit
        boolean hasFraction = template.fill() ? template.scale() > 0 : significant(fraction) > 0;
        boolean lastZeroShown = !hasFraction && integer.isEmpty() && begin == template.integerDigits();
        if (lastZeroShown && template.integerDigits() > 0) {
            begin--; // a plain zero
        }
        place(integer, fraction, lead, begin, overflow);
    }

    private void place(String integer, String fraction, int lead, int begin, boolean overflow) {
        boolean signWritten = template.explicitSign() && !template.has(NumberTemplate.Kind.BRACKETS);
        boolean brackets = template.has(NumberTemplate.Kind.BRACKETS);
        boolean signFirst = !signWritten;
        int shownFraction = template.fill() ? template.scale() : significant(fraction);
        int place = 0;
        int behind = 0;
        boolean started = false;
        boolean anchored = false; // S before the digits goes right before the first of them
        boolean point = false;
        for (int index = 0; index < template.parts().size(); index++) {
            NumberTemplate.Part part = template.parts().get(index);
            switch (part.kind()) {
                case DIGIT -> {
                    if (point) {
                        if (behind < shownFraction) {
                            out.append(overflow ? '#' : fraction.charAt(behind));
                        }
                        behind++;
                    } else {
                        boolean shown = place >= begin;
                        if (shown && !started) {
                            started = true;
                            sign(signFirst, brackets, anchored);
                        }
                        if (shown) {
                            out.append(overflow ? '#' : place < lead ? '0' : integer.charAt(place - lead));
                        } else if (template.fill()) {
                            out.append(' ');
                        }
                        place++;
                    }
                }
                case POINT -> {
                    if (!started) {
                        started = true;
                        sign(signFirst, brackets, anchored);
                    }
                    point = true;
                    if (template.fill() || shownFraction > 0 || template.scale() > 0) {
                        out.append('.');
                    }
                }
                case GROUP -> {
                    if (started) {
                        out.append(',');
                    } else if (template.fill()) {
                        out.append(' ');
                    }
                }
                case SIGN -> {
                    if (place == 0 && !point) {
                        anchored = true;
                    } else {
                        out.append(negative ? '-' : '+');
                    }
                }
                case MINUS -> out.append(negative ? "-" : template.fill() ? " " : "");
                case PLUS -> out.append(negative ? (template.fill() ? " " : "") : "+");
                case PLUS_OR_MINUS -> out.append(negative ? '-' : '+');
                case BRACKETS -> out.append(negative ? ">" : template.fill() ? " " : "");
                case ORDINAL -> {
                    if (!negative && template.scale() == 0) {
                        String suffix = ordinal(magnitude
                                .unscaledValue()
                                .mod(BigInteger.valueOf(100))
                                .longValue());
                        out.append(part.text().equals("TH") ? suffix.toUpperCase(Locale.ROOT) : suffix);
                    }
                }
                case LITERAL -> out.append(part.text());
                case ROMAN, EXPONENT -> throw new AssertionError(part);
            }
        }
    }

    /** Writes the sign before the first digit, where it has no other place. */
    private void sign(boolean first, boolean brackets, boolean anchored) {
        if (anchored) {
            out.append(negative ? '-' : '+');
        } else if (first) {
            out.append(negative ? (brackets ? "<" : "-") : template.fill() ? " " : "");
        }
    }

    /** Digits of the fraction without trailing zeros that the template does not ask for. */
    private int significant(String fraction) {
        int shown = fraction.length();
        while (shown > template.lastZero() && fraction.charAt(shown - 1) == '0') {
            shown--;
        }
        return shown;
    }

    @Override
    public String toString() {
        return out.toString();
    }

    /** What English puts behind a number to count with it. */
    public static String ordinal(long value) {
        boolean teen = value % 100 / 10 == 1;
        return switch (teen ? 0 : (int) (value % 10)) {
            case 1 -> "st";
            case 2 -> "nd";
            case 3 -> "rd";
            default -> "th";
        };
    }
}
