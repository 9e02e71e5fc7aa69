package dev.millrace.expressions.function;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.expressions.function.pattern.LikePattern;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Functions of random texts against Java's strings. */
class TextFunctionsTest {
    private static final int RUNS = 20_000;
    private static final long SEED = 3;
    private static final String[] LETTERS = {"a", "b", "A", "Z", "-", "ü", "Ö", "日", "😀", "ab"};

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** A function's result for texts that are laid out one behind the other. */
    private interface Function {
        void apply(long address, int length, long other, int otherLength, Text out);
    }

    private interface Expected {
        String apply(String text, String other);
    }

    private static String random(SplittableRandom random, int most, String... letters) {
        StringBuilder text = new StringBuilder();
        boolean ascii = random.nextBoolean();
        for (int i = random.nextInt(most); i > 0; i--) {
            text.append(letters[random.nextInt(ascii ? letters.length / 2 : letters.length)]);
        }
        return text.toString();
    }

    private void check(String name, Function function, Expected expected) {
        SplittableRandom random = new SplittableRandom(SEED);
        try (Text out = new Text(memory.allocator());
                ArrowBuf buffer = memory.allocator().buffer(1000)) {
            for (int run = 0; run < RUNS; run++) {
                String text = random(random, 40, LETTERS);
                String other = random(random, 4, LETTERS);
                byte[] textBytes = text.getBytes(StandardCharsets.UTF_8);
                byte[] otherBytes = other.getBytes(StandardCharsets.UTF_8);
                long address = buffer.memoryAddress();
                Memory.copyIn(textBytes, 0, address, textBytes.length);
                Memory.copyIn(otherBytes, 0, address + textBytes.length, otherBytes.length);
                function.apply(address, textBytes.length, address + textBytes.length, otherBytes.length, out);
                byte[] result = new byte[out.length];
                Memory.copyOut(out.address, result, 0, out.length);
                assertEquals(
                        expected.apply(text, other),
                        new String(result, StandardCharsets.UTF_8),
                        () -> name + " of '" + text + "' and '" + other + "'");
            }
        }
    }

    private static String characters(String text, int from, int to) {
        int[] all = text.codePoints().toArray();
        int start = Math.max(0, Math.min(from, all.length));
        int end = Math.max(start, Math.min(to, all.length));
        return new String(all, start, end - start);
    }

    private static int count(String text) {
        return text.codePointCount(0, text.length());
    }

    @Test
    void partsAreCountedInCharacters() {
        check("substring", (a, n, b, m, out) -> Texts.substring(a, n, m, 7, out), (text, other) -> {
            int from = other.getBytes(StandardCharsets.UTF_8).length;
            return characters(text, from - 1, from + 6);
        });
        check("left", (a, n, b, m, out) -> Texts.left(a, n, 5, out), (text, other) -> characters(text, 0, 5));
        check(
                "left of less",
                (a, n, b, m, out) -> Texts.left(a, n, -5, out),
                (text, other) -> characters(text, 0, count(text) - 5));
        check(
                "right",
                (a, n, b, m, out) -> Texts.right(a, n, 5, out),
                (text, other) -> characters(text, count(text) - 5, count(text)));
        check(
                "reverse",
                (a, n, b, m, out) -> Texts.reverse(a, n, out),
                (text, other) -> new StringBuilder(text).reverse().toString());
        check("lpad", (a, n, b, m, out) -> Trimming.lpad(a, n, 20, b, m, out), (text, other) -> {
            int missing = 20 - count(text);
            boolean cut = missing <= 0 || other.isEmpty();
            return cut ? characters(text, 0, 20) : characters(other.repeat(20), 0, missing) + text;
        });
    }

    @Test
    void lettersChangeTheirCase() {
        check("lower", (a, n, b, m, out) -> Letters.lower(a, n, out), (text, other) -> text.toLowerCase(Locale.ROOT));
        check("upper", (a, n, b, m, out) -> Letters.upper(a, n, out), (text, other) -> text.toUpperCase(Locale.ROOT));
    }

    @Test
    void whatIsSearchedIsFoundWhereJavaFindsIt() {
        check(
                "replace",
                (a, n, b, m, out) -> Texts.replace(a, n, b, m, b, 0, out),
                (text, other) -> other.isEmpty() ? text : text.replace(other, ""));
        check("split_part", (a, n, b, m, out) -> Texts.splitPart(a, n, b, m, 2, out), (text, other) -> {
            String[] parts = other.isEmpty() ? new String[] {text} : text.split(Pattern.quote(other), -1);
            return parts.length > 1 ? parts[1] : "";
        });
        check("strpos", (a, n, b, m, out) -> Conversions.ofInteger(Texts.strpos(a, n, b, m), out), (text, other) -> {
            int at = text.indexOf(other);
            return Integer.toString(at < 0 ? 0 : text.codePointCount(0, at) + 1);
        });
        check(
                "count_char",
                (a, n, b, m, out) -> Conversions.ofInteger(Texts.countChar(a, n, b, m), out),
                (text, other) ->
                        Integer.toString(other.isEmpty() ? 0 : text.split(Pattern.quote(other), -1).length - 1));
    }

    @Test
    void likeIsARegularExpressionOfItsOwn() {
        SplittableRandom random = new SplittableRandom(SEED);
        try (LikePattern like = new LikePattern(memory.allocator());
                ArrowBuf buffer = memory.allocator().buffer(1000)) {
            for (int run = 0; run < RUNS; run++) {
                String text = random(random, 10, "a", "b", "a", "b", "ü", "日");
                String pattern = random(random, 7, "a", "%", "_", "b", "ü", "%", "_");
                byte[] textBytes = text.getBytes(StandardCharsets.UTF_8);
                byte[] patternBytes = pattern.getBytes(StandardCharsets.UTF_8);
                long address = buffer.memoryAddress();
                Memory.copyIn(textBytes, 0, address, textBytes.length);
                Memory.copyIn(patternBytes, 0, address + textBytes.length, patternBytes.length);
                like.prepare(address + textBytes.length, patternBytes.length);
                String regex = pattern.replace("%", ".*").replace("_", ".");
                assertEquals(
                        Pattern.compile(regex, Pattern.DOTALL).matcher(text).matches(),
                        like.matches(address, textBytes.length),
                        () -> "'" + text + "' like '" + pattern + "'");
            }
        }
    }
}
