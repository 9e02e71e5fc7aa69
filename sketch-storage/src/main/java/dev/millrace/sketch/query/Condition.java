package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.schema.Feature;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What rows must meet. As in SQL, a condition on NULL is neither true nor false, and NaN is larger than every number. Where a
 * value lies so near a limit that its error might take it across, the row counts as possible but not certain.
 */
public sealed interface Condition {
    /** Bits of a verdict: the true value certainly meets it, it possibly does, the value in the sketch does. */
    int CERTAIN = 1;

    int POSSIBLE = 2;
    int SEEN = 4;
    int ALL = CERTAIN | POSSIBLE | SEEN;
    /** The same three bits for a condition's being false lie so many bits higher. */
    int FALSE = 3;

    /** A number from {@code low} to {@code high}, both included. */
    static Condition between(String feature, double low, double high) {
        return new NumberRange(feature, low, true, high, true);
    }

    static Condition atLeast(String feature, double low) {
        return new NumberRange(feature, low, true, Double.NaN, true);
    }

    static Condition atMost(String feature, double high) {
        return new NumberRange(feature, Double.NEGATIVE_INFINITY, true, high, true);
    }

    static Condition above(String feature, double low) {
        return new NumberRange(feature, low, false, Double.NaN, true);
    }

    static Condition below(String feature, double high) {
        return new NumberRange(feature, Double.NEGATIVE_INFINITY, true, high, false);
    }

    /** A whole number, date or timestamp from {@code low} to {@code high}, both included, to the last of 64 bits. */
    static Condition between(String feature, long low, long high) {
        return new WholeRange(feature, low, high);
    }

    static Condition equal(String feature, long value) {
        return new WholeRange(feature, value, value);
    }

    /** One of some texts. */
    static Condition in(String feature, String... texts) {
        Set<String> all = Set.of(texts);
        return new Matches(feature, all::contains);
    }

    /** A text that a predicate is true of; it is called once for each distinct one. */
    static Condition matches(String feature, Predicate<String> predicate) {
        return new Matches(feature, predicate);
    }

    /** A text from one to another, both included, in the order of their characters' code points. */
    static Condition between(String feature, String low, String high) {
        return new Matches(feature, text -> compare(text, low) >= 0 && compare(text, high) <= 0);
    }

    private static int compare(String a, String b) {
        int at = 0;
        while (at < a.length() && at < b.length() && a.charAt(at) == b.charAt(at)) {
            at++;
        }
        if (at == a.length() || at == b.length()) {
            return Integer.compare(a.length(), b.length());
        }
        // Surrogates stand for what is beyond all other characters.
        boolean beyond = Character.isSurrogate(a.charAt(at));
        return beyond == Character.isSurrogate(b.charAt(at))
                ? Character.compare(a.charAt(at), b.charAt(at))
                : beyond ? 1 : -1;
    }

    static Condition isTrue(String feature) {
        return new WholeRange(feature, 1, 1);
    }

    static Condition isFalse(String feature) {
        return new WholeRange(feature, 0, 0);
    }

    static Condition isNull(String feature) {
        return new Null(feature);
    }

    static Condition isNotNull(String feature) {
        return not(isNull(feature));
    }

    /** Times from {@code fromTicks} to before {@code toTicks}. */
    static Condition during(long fromTicks, long toTicks) {
        return toTicks == Long.MIN_VALUE ? not(from(toTicks)) : new Time(fromTicks, toTicks - 1);
    }

    /** Times from {@code ticks} on. */
    static Condition from(long ticks) {
        return new Time(ticks, Long.MAX_VALUE);
    }

    static Condition and(Condition... conditions) {
        return new And(List.of(conditions));
    }

    static Condition or(Condition... conditions) {
        return new Or(List.of(conditions));
    }

    static Condition not(Condition condition) {
        return new Not(condition);
    }

    /** Three bits for its being true and three for its being false, of what is true for certain, possibly, and in the sketch. */
    private static int truth(boolean certain, boolean possible, boolean seen) {
        return (certain ? CERTAIN : 0)
                | (possible ? POSSIBLE : CERTAIN << FALSE)
                | (certain ? 0 : POSSIBLE << FALSE)
                | (seen ? SEEN : SEEN << FALSE);
    }

    private static int truth(boolean holds) {
        return truth(holds, holds, holds);
    }

    /** One on the values of a feature. */
    sealed interface OfFeature extends Condition {
        String feature();

        /** By rank of the feature's column, NULL included, the bits of its being true and false. */
        byte[] truths(Column column, Feature kind);

        /** The same, once it is known that the condition is one for such a feature. */
        default byte[] truths(Sketch sketch, int index) {
            Feature kind = sketch.schema().feature(index);
            boolean text = kind.kind() == Feature.Kind.TEXT;
            if (!(this instanceof Null) && text != this instanceof Matches) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        feature() + " is " + kind.type() + ", which the condition is not for");
            }
            return truths(sketch.column(index), kind);
        }
    }

    /** Numbers in a range; up to NaN it is everything above. */
    record NumberRange(String feature, double low, boolean lowIncluded, double high, boolean highIncluded)
            implements OfFeature {
        @Override
        public byte[] truths(Column column, Feature kind) {
            if (kind.kind() != Feature.Kind.NUMBER) {
                return wholes().truths(column, kind);
            }
            Points points = new Points(column, kind);
            byte[] truths = new byte[points.size + 1];
            for (int rank = 0; rank < points.size; rank++) {
                double from = Points.value(points.low(rank));
                double to = Points.value(points.high(rank));
                truths[rank] = (byte)
                        truth(isAbove(from) && isBelow(to), isAbove(to) && isBelow(from), holds(points.value(rank)));
            }
            return truths;
        }

        private boolean isAbove(double value) {
            int order = Double.compare(value + 0.0, low + 0.0);
            return order > 0 || order == 0 && lowIncluded;
        }

        private boolean isBelow(double value) {
            int order = Double.compare(value + 0.0, high + 0.0);
            return order < 0 || order == 0 && highIncluded;
        }

        private boolean holds(double value) {
            return isAbove(value) && isBelow(value);
        }

        /** The whole numbers among them. */
        private WholeRange wholes() {
            if (Double.isNaN(low) || low >= 0x1p63 || high < -0x1p63) {
                return new WholeRange(feature, 1, 0);
            }
            // In longs: to the next double it may be further than to the next whole number.
            long from = low < -0x1p63 ? Long.MIN_VALUE : (long) Math.ceil(low);
            long to = Double.isNaN(high) || high >= 0x1p63 ? Long.MAX_VALUE : (long) Math.floor(high);
            boolean withoutFirst = !lowIncluded && low >= -0x1p63 && low == Math.rint(low);
            boolean withoutLast = !highIncluded && high < 0x1p63 && high == Math.rint(high);
            if (withoutFirst && from == Long.MAX_VALUE || withoutLast && to == Long.MIN_VALUE) {
                return new WholeRange(feature, 1, 0);
            }
            return new WholeRange(feature, withoutFirst ? from + 1 : from, withoutLast ? to - 1 : to);
        }
    }

    /** Whole numbers in a range. */
    record WholeRange(String feature, long low, long high) implements OfFeature {
        @Override
        public byte[] truths(Column column, Feature kind) {
            if (kind.kind() == Feature.Kind.NUMBER) {
                return low > high
                        ? new NumberRange(feature, 1, true, 0, true).truths(column, kind)
                        : new NumberRange(feature, from(low), true, to(high), true).truths(column, kind);
            }
            Points points = new Points(column, kind);
            byte[] truths = new byte[points.size + 1];
            for (int rank = 0; rank < points.size; rank++) {
                long from = points.low(rank);
                long to = points.high(rank);
                long value = points.key(rank);
                truths[rank] = (byte)
                        truth(from >= low && to <= high, to >= low && from <= high, value >= low && value <= high);
            }
            return truths;
        }

        /** The smallest double that is not below. */
        private static double from(long whole) {
            return Points.doubleAbove(whole, true);
        }

        private static double to(long whole) {
            return Points.doubleBelow(whole, true);
        }
    }

    /** Texts. */
    record Matches(String feature, Predicate<String> predicate) implements OfFeature {
        @Override
        public byte[] truths(Column column, Feature kind) {
            TextSymbols symbols = (TextSymbols) column.symbols();
            byte[] truths = new byte[symbols.size() + 1];
            for (int rank = 0; rank < symbols.size(); rank++) {
                truths[rank] = (byte) truth(predicate.test(symbols.text(rank)));
            }
            return truths;
        }
    }

    /** NULL. */
    record Null(String feature) implements OfFeature {
        @Override
        public byte[] truths(Column column, Feature kind) {
            byte[] truths = new byte[column.symbols().size() + 1];
            Arrays.fill(truths, (byte) truth(false));
            truths[truths.length - 1] = (byte) truth(true);
            return truths;
        }
    }

    /** Times in a range, both ends included. */
    record Time(long from, long last) implements Condition {
        /** The bits of a time's lying in it that may be off. */
        int truth(long time, long error) {
            long early = time < Long.MIN_VALUE + error ? Long.MIN_VALUE : time - error;
            long late = time > Long.MAX_VALUE - error ? Long.MAX_VALUE : time + error;
            return Condition.truth(
                    early >= from && late <= last, late >= from && early <= last, time >= from && time <= last);
        }
    }

    /** All of some. */
    record And(List<Condition> conditions) implements Condition {
        public And {
            conditions = List.copyOf(conditions);
        }
    }

    /** At least one of some. */
    record Or(List<Condition> conditions) implements Condition {
        public Or {
            conditions = List.copyOf(conditions);
        }
    }

    /** What another one is not. */
    record Not(Condition condition) implements Condition {}
}
