package dev.millrace.engine.function.regex;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
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
            List<String> found = found(pattern, text.toString());
            assertEquals(expected(pattern, text.toString(), found), found, what);
        }
    }

    /** The JDK's matches. It leaves a group set whose loop was given up: where ours took no part that is forgiven. */
    private static List<String> expected(String pattern, String text, List<String> ours) {
        java.util.regex.Matcher matcher =
                Pattern.compile(pattern, Pattern.DOTALL).matcher(text);
        List<String> matches = new ArrayList<>();
        while (matcher.find()) {
            StringBuilder match = new StringBuilder(matcher.group());
            String[] groups =
                    matches.size() < ours.size() ? ours.get(matches.size()).split("\\|", -1) : new String[0];
            for (int group = 1; group <= matcher.groupCount(); group++) {
                boolean forgiven = group < groups.length && groups[group].equals("null");
                match.append('|').append(forgiven ? "null" : matcher.group(group));
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
        List<String> branches = new ArrayList<>(List.of(sequence(random, depth)));
        while (random.nextInt(4) == 0) {
            branches.add(sequence(random, depth));
        }
        return joined(branches);
    }

    /** Branches of fixed lengths from the longest to the shortest: the order that our matcher takes by itself. */
    private static String joined(List<String> branches) {
        if (branches.stream().allMatch(RegexMatcherTest::isFixed)) {
            branches.sort(Comparator.comparingInt(RegexMatcherTest::characters).reversed());
        }
        return String.join("|", branches);
    }

    private static boolean isFixed(String branch) {
        return branch.matches("([abü日=.]|\\[[^]]*])*");
    }

    private static int characters(String branch) {
        return branch.replaceAll("\\[[^]]*]", "x").length();
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
        String atom = atom(random, depth);
        String quantifier = quantifiers[random.nextInt(quantifiers.length)];
        // The JDK takes an iteration over nothing for the last even when more are asked for.
        return atom + (atom.startsWith("(?:") && quantifier.startsWith("{") ? "" : quantifier);
    }

    private static String atom(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth > 0 ? 9 : 6)) {
            case 0 -> ".";
            case 1 -> "[a=]";
            case 2 -> "[^aü]";
            case 6 -> "(" + plain(random) + ")";
            case 7 -> {
                String inner = alternatives(random, depth - 1);
                yield isFixed(inner) ? inner : "(?:" + inner + ")";
            }
            case 8 -> "(?:" + joined(new ArrayList<>(List.of(plain(random), plain(random)))) + ")";
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
