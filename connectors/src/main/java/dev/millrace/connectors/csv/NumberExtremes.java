package dev.millrace.connectors.csv;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The least and the greatest number of a column, and what comes next to each: a number far from all others stands for something else,
 * as -999 for a reading that is missing. Owned by one thread.
 */
final class NumberExtremes {
    private static final int MOST_SPELLINGS = 4;
    private static final double LEAST_GAP = 90;

    private final Side low = new Side();
    private final Side high = new Side();

    /** One side, on which the least number counts; of the high side they are negated. */
    private static final class Side {
        private double least = Double.POSITIVE_INFINITY;
        private double next = Double.POSITIVE_INFINITY;
        private long count;
        private final Set<String> spellings = new LinkedHashSet<>();

        private void add(double number, String text) {
            if (number < least) {
                next = least;
                start(number);
            } else if (number > least) {
                next = Math.min(next, number);
                return;
            }
            count++;
            if (spellings.size() < MOST_SPELLINGS) {
                spellings.add(text);
            }
        }

        private void start(double number) {
            least = number;
            count = 0;
            spellings.clear();
        }

        private void add(Side other) {
            if (other.least < least) {
                next = Math.min(least, other.next);
                start(other.least);
            } else {
                next = Math.min(next, other.least > least ? other.least : other.next);
            }
            if (other.least == least) {
                count += other.count;
                spellings.addAll(other.spellings);
            }
        }
    }

    /** A number that stands for nothing, as it is written. */
    record Code(double number, Set<String> spellings) {
        /** Whether it is nothing but nines, which is the custom. */
        boolean isNines() {
            if (spellings.isEmpty()) {
                return false;
            }
            String digits =
                    spellings.iterator().next().replaceAll("[.,]0*$", "").replaceAll("[-+.,]", "");
            return digits.length() >= 2 && digits.chars().allMatch(c -> c == '9');
        }
    }

    void add(double number, String text) {
        if (!Double.isNaN(number) && !Double.isInfinite(number)) {
            low.add(number, text);
            high.add(-number, text);
        }
    }

    void add(NumberExtremes other) {
        low.add(other.low);
        high.add(other.high);
    }

    /** The least number, if it comes several times far below the others, and is such as people take for nothing. */
    Optional<Code> codeBelow() {
        double gap = low.next - low.least;
        double others = greatest() - low.next;
        boolean isFar = low.next >= 0 || gap > Math.max(others, LEAST_GAP);
        boolean isCode = low.least <= -99 && low.count > 1 && low.next < Double.POSITIVE_INFINITY && isFar;
        return Optional.of(new Code(low.least, low.spellings))
                .filter(code -> isCode && (code.isNines() || code.number() % 100 == 0));
    }

    /** Likewise the greatest, which has to be of nines. */
    Optional<Code> codeAbove() {
        double next = -high.next;
        double gap = greatest() - next;
        boolean isCode =
                greatest() >= 999 && high.count > 1 && next > Double.NEGATIVE_INFINITY && gap > 2 * (next - low.least);
        return Optional.of(new Code(greatest(), high.spellings)).filter(code -> isCode && code.isNines());
    }

    private double greatest() {
        return -high.least;
    }
}
