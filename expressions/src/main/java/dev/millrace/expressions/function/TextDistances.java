package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How far texts are from each other, and how alike: in characters. A share is from 0, nothing alike, to 1, equal. */
public final class TextDistances {
    private static final int LONGEST = 100_000; // bytes; the time is that of the product of both lengths
    private static final double ALIKE = 0.7; // what a common beginning makes more alike
    private static final int LONGEST_BEGINNING = 4;
    private static final double BEGINNING = 0.1;
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}]+");

    /** Digits of A to Z in a Soundex code; 0 for letters left out. */
    private static final String SOUNDEX = "01230120022455012623010202";

    private TextDistances() {}

    private static int[] characters(long address, int length) {
        return Text.read(address, length).codePoints().toArray();
    }

    /** How many characters to insert, delete or replace make one of the other. */
    public static int levenshtein(long a, int aLength, long b, int bLength) {
        return levenshtein(a, aLength, b, bLength, 1, 1, 1);
    }

    /** The same with what each of those costs. */
    public static int levenshtein(
            long a, int aLength, long b, int bLength, int insertion, int deletion, int substitution) {
        int[] from = characters(a, aLength);
        int[] to = characters(b, bLength);
        int[] before = new int[to.length + 1];
        for (int j = 0; j <= to.length; j++) {
            before[j] = j * insertion;
        }
        for (int i = 1; i <= from.length; i++) {
            Interrupt.checkCurrent();
            int[] row = new int[to.length + 1];
            row[0] = i * deletion;
            for (int j = 1; j <= to.length; j++) {
                int replaced = before[j - 1] + (from[i - 1] == to[j - 1] ? 0 : substitution);
                row[j] = Math.min(replaced, Math.min(before[j] + deletion, row[j - 1] + insertion));
            }
            before = row;
        }
        return before[to.length];
    }

    /** Neighbours that change places count as one, too, even with others put between them. */
    public static int damerauLevenshtein(long a, int aLength, long b, int bLength) {
        int[] from = characters(a, aLength);
        int[] to = characters(b, bLength);
        int most = from.length + to.length;
        int[][] costs = new int[from.length + 2][to.length + 2];
        Map<Integer, Integer> lastRow = new HashMap<>();
        costs[0][0] = most;
        for (int i = 0; i <= from.length; i++) {
            costs[i + 1][0] = most;
            costs[i + 1][1] = i;
        }
        for (int j = 0; j <= to.length; j++) {
            costs[0][j + 1] = most;
            costs[1][j + 1] = j;
        }
        for (int i = 1; i <= from.length; i++) {
            Interrupt.checkCurrent();
            int lastColumn = 0;
            for (int j = 1; j <= to.length; j++) {
                int row = lastRow.getOrDefault(to[j - 1], 0);
                int column = lastColumn;
                boolean same = from[i - 1] == to[j - 1];
                lastColumn = same ? j : lastColumn;
                costs[i + 1][j + 1] = Math.min(
                        Math.min(costs[i][j] + (same ? 0 : 1), Math.min(costs[i + 1][j] + 1, costs[i][j + 1] + 1)),
                        costs[row][column] + (i - row - 1) + 1 + (j - column - 1));
            }
            lastRow.put(from[i - 1], i);
        }
        return costs[from.length + 1][to.length + 1];
    }

    /** At how many places texts of one length differ. */
    public static int hamming(long a, int aLength, long b, int bLength) {
        int[] from = characters(a, aLength);
        int[] to = characters(b, bLength);
        if (from.length != to.length) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "hamming compares texts of the same length, not of " + from.length + " and " + to.length
                            + " characters");
        }
        int different = 0;
        for (int i = 0; i < from.length; i++) {
            different += from[i] == to[i] ? 0 : 1;
        }
        return different;
    }

    /** The share of the characters of either that both have. */
    public static double jaccard(long a, int aLength, long b, int bLength) {
        Set<Integer> left = new HashSet<>();
        Set<Integer> right = new HashSet<>();
        Arrays.stream(characters(a, aLength)).forEach(left::add);
        Arrays.stream(characters(b, bLength)).forEach(right::add);
        return common(left, right);
    }

    private static <T> double common(Set<T> left, Set<T> right) {
        Set<T> all = new HashSet<>(left);
        all.addAll(right);
        left.retainAll(right);
        return all.isEmpty() ? 1 : (double) left.size() / all.size();
    }

    /** Jaro's measure: characters that are in both about the same place. */
    public static double jaro(long a, int aLength, long b, int bLength) {
        return jaro(characters(a, aLength), characters(b, bLength));
    }

    private static double jaro(int[] from, int[] to) {
        if (from.length == 0 || to.length == 0) {
            return from.length == to.length ? 1 : 0;
        }
        int reach = Math.max(0, Math.max(from.length, to.length) / 2 - 1);
        boolean[] taken = new boolean[to.length];
        int[] matched = new int[from.length];
        int matches = 0;
        for (int i = 0; i < from.length; i++) {
            for (int j = Math.max(0, i - reach); j <= Math.min(to.length - 1, i + reach); j++) {
                if (!taken[j] && from[i] == to[j]) {
                    taken[j] = true;
                    matched[matches++] = from[i];
                    break;
                }
            }
        }
        int moved = 0;
        for (int j = 0, at = 0; j < to.length; j++) {
            if (taken[j]) {
                moved += matched[at++] == to[j] ? 0 : 1;
            }
        }
        double m = matches;
        return matches == 0 ? 0 : (m / from.length + m / to.length + (m - moved / 2) / m) / 3;
    }

    /** Jaro's measure, and more for texts that begin alike. */
    public static double jaroWinkler(long a, int aLength, long b, int bLength) {
        int[] from = characters(a, aLength);
        int[] to = characters(b, bLength);
        double jaro = jaro(from, to);
        int beginning = 0;
        int longest = Math.min(LONGEST_BEGINNING, Math.min(from.length, to.length));
        while (beginning < longest && from[beginning] == to[beginning]) {
            beginning++;
        }
        return jaro > ALIKE ? jaro + beginning * BEGINNING * (1 - jaro) : jaro;
    }

    /** The share of three neighbouring characters of words that both have, as PostgreSQL's module pg_trgm. */
    public static double similarity(long a, int aLength, long b, int bLength) {
        return common(trigrams(Text.read(a, aLength)), trigrams(Text.read(b, bLength)));
    }

    private static Set<String> trigrams(String text) {
        Set<String> trigrams = new HashSet<>();
        Matcher words = WORD.matcher(text.toLowerCase(Locale.ROOT));
        while (words.find()) {
            String word = "  " + words.group() + " ";
            for (int i = 0; i + 3 <= word.length(); i++) {
                trigrams.add(word.substring(i, i + 3));
            }
        }
        return trigrams;
    }

    /** The Soundex code of an English word: its first letter and three digits for how the others sound. */
    public static void soundex(long address, int length, Text out) {
        out.begin().append(soundex(Text.read(address, length)).getBytes(StandardCharsets.US_ASCII));
        out.written();
    }

    private static String soundex(String text) {
        StringBuilder code = new StringBuilder();
        char before = '0';
        for (int i = 0; i < text.length() && code.length() < 4; i++) {
            char letter = Character.toUpperCase(text.charAt(i));
            if (letter < 'A' || letter > 'Z') {
                continue;
            }
            char digit = SOUNDEX.charAt(letter - 'A');
            if (code.length() == 0) {
                code.append(letter);
            } else if (digit != '0' && digit != before) {
                code.append(digit);
            }
            before = digit;
        }
        while (code.length() > 0 && code.length() < 4) {
            code.append('0');
        }
        return code.toString();
    }

    /** In how many of the four places the Soundex codes of two words agree. */
    public static int difference(long a, int aLength, long b, int bLength) {
        String left = soundex(Text.read(a, aLength));
        String right = soundex(Text.read(b, bLength));
        int same = 0;
        for (int i = 0; i < Math.min(left.length(), right.length()); i++) {
            same += left.charAt(i) == right.charAt(i) ? 1 : 0;
        }
        return same;
    }
}
