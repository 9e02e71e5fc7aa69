package dev.millrace.engine.function.regex;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All matches of random expressions in random texts, against the JDK's matcher where the two languages agree. */
class RegexMatcherTest {
    private static final int RUNS = Integer.getInteger("millrace.regex.runs", 20_000);
    private static final long SEED = Long.getLong("millrace.regex.seed", 1);
    private static final String[] LETTERS = {"a", "b", "ab", "ü", "日", "=", "a", "b"};

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @Test
    void agreesWithTheJdk() {
        for (int run = 0; run < RUNS; run++) {
            SplittableRandom random = new SplittableRandom(SEED + run);
            String pattern = alternatives(random, 3);
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) {
                text.append(LETTERS[random.nextInt(LETTERS.length)]);
            }
            String what = "seed " + (SEED + run) + ": " + pattern + " in '" + text + "'";
            assertEquals(expected(pattern, text.toString()), found(pattern, text.toString()), what);
        }
    }

    private static List<String> expected(String pattern, String text) {
        java.util.regex.Matcher matcher =
                Pattern.compile(pattern, Pattern.DOTALL).matcher(text);
        List<String> matches = new ArrayList<>();
        while (matcher.find()) {
            StringBuilder match = new StringBuilder(matcher.group());
            for (int group = 1; group <= matcher.groupCount(); group++) {
                match.append('|').append(matcher.group(group));
            }
            matches.add(match.toString());
        }
        return matches;
    }

    private List<String> found(String pattern, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        RegexMatcher matcher = new RegexMatcher(Regex.compile(pattern, RegexFlags.NONE));
        List<String> matches = new ArrayList<>();
        try (ArrowBuf buffer = memory.allocator().buffer(bytes.length + 1L)) {
            Memory.copyIn(bytes, 0, buffer.memoryAddress(), bytes.length);
            matcher.reset(buffer.memoryAddress(), bytes.length);
            int from = 0;
            while (from <= bytes.length && matcher.find(from)) {
                StringBuilder match = new StringBuilder(part(bytes, matcher, 0));
                for (int group = 1; group <= matcher.groups(); group++) {
                    match.append('|').append(matcher.start(group) < 0 ? "null" : part(bytes, matcher, group));
                }
                matches.add(match.toString());
                from = matcher.end() > matcher.start() ? matcher.end() : next(bytes, matcher.end());
            }
        }
        return matches;
    }

    private static int next(byte[] bytes, int at) {
        int next = at + 1;
        while (next < bytes.length && (bytes[next] & 0xc0) == 0x80) {
            next++;
        }
        return next;
    }

    private static String part(byte[] bytes, RegexMatcher matcher, int group) {
        int start = matcher.start(group);
        return new String(bytes, start, matcher.end(group) - start, StandardCharsets.UTF_8);
    }

    private static String alternatives(SplittableRandom random, int depth) {
        StringBuilder pattern = new StringBuilder(sequence(random, depth));
        while (random.nextInt(4) == 0) {
            pattern.append('|').append(sequence(random, depth));
        }
        return pattern.toString();
    }

    private static String sequence(SplittableRandom random, int depth) {
        StringBuilder pattern = new StringBuilder(random.nextInt(12) == 0 ? "^" : "");
        for (int i = random.nextInt(4); i >= 0; i--) {
            pattern.append(repeated(random, depth));
        }
        return pattern.append(random.nextInt(12) == 0 ? "\\Z" : "").toString().replace("\\Z", "(?!.)");
    }

    private static String repeated(SplittableRandom random, int depth) {
        String[] quantifiers = {"", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}"};
        return atom(random, depth) + quantifiers[random.nextInt(quantifiers.length)];
    }

    private static String atom(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth > 0 ? 9 : 6)) {
            case 0 -> ".";
            case 1 -> "[a=]";
            case 2 -> "[^aü]";
            case 6 -> "(" + plain(random) + ")";
            case 7 -> "(?:" + alternatives(random, depth - 1) + ")";
            case 8 -> "(?:" + plain(random) + "|" + plain(random) + ")";
            default -> LETTERS[random.nextInt(2)];
        };
    }

    /** What always takes a character: groups within loops over nothing differ between matchers. */
    private static String plain(SplittableRandom random) {
        StringBuilder pattern = new StringBuilder();
        for (int i = random.nextInt(3); i >= 0; i--) {
            pattern.append(LETTERS[random.nextInt(LETTERS.length)]);
        }
        return pattern.toString();
    }
}
