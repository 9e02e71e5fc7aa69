package dev.millrace.expressions.function.regex;

import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** A pattern, its options and a text; and how random ones look. */
record RegexCase(String options, String pattern, String text) {
    private static final String[] QUANTIFIERS = {
        "", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}", "{1,3}?", "{0}", "{2,}", "{1,1}?",
        "{0,3}", "{1,}?"
    };
    private static final String[] PIECES = {
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "+",
        "?",
        "|",
        "^",
        "$",
        "\\",
        ".",
        ",",
        "-",
        ":",
        "=",
        "!",
        "<",
        "1",
        "2",
        "a",
        "b",
        "&",
        "x",
        "(?:",
        "[^",
        "[[:alpha:]]",
        "[:",
        "[.",
        "[=",
        ".]",
        "=]",
        "{1",
        "{1,2}",
        "(?=",
        "(?<!",
        "(?#",
        "\\d",
        "\\D",
        "\\w",
        "[\\w]",
        "\\B",
        "\\x61",
        "\\u0061",
        "\\12",
        "\\0",
        "a-b",
        "[a-b]",
        "[^a]",
        "[]a]",
        "[a-]",
        "***",
        "***=",
        "***:",
        "(?i)",
        "(?x)",
        " ",
        "#",
        "\\y",
        "\\Z",
        "\\A",
        "\\m",
        "(a)",
        "(a",
        "b)",
        "[[:<:]]",
        "[[:foo:]]",
        "\\S",
        "\\e",
        "\\cA",
        "]]",
        "[[",
        "ü",
        "\\ü",
        "{0}",
        "{,2}",
        "{256}",
        "\n",
        "\\101"
    };
    private static final String[] LETTERS = {"a", "b", "a", "b", "a", "b", "c", "ü", " ", "\n"};

    /** An expression with back references now and then, or pieces of syntax in any order. */
    static RegexCase random(SplittableRandom random) {
        String options = pick(random, "", "", "", "i", "n", "w", "p", "x");
        StringBuilder pattern = new StringBuilder();
        if (random.nextInt(4) == 0) {
            for (int i = random.nextInt(9); i >= 0; i--) {
                pattern.append(pick(random, PIECES));
            }
        } else {
            alternatives(random, 3, pattern);
        }
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(11); i > 0; i--) {
            text.append(pick(random, LETTERS));
        }
        return new RegexCase(options, pattern.toString(), text.toString());
    }

    private static String pick(SplittableRandom random, String... of) {
        return of[random.nextInt(of.length)];
    }

    private static void alternatives(SplittableRandom random, int depth, StringBuilder out) {
        sequence(random, depth, out);
        while (random.nextInt(4) == 0) {
            sequence(random, depth, out.append('|'));
        }
    }

    private static void sequence(SplittableRandom random, int depth, StringBuilder out) {
        out.append(random.nextInt(15) == 0 ? "^" : "");
        for (int i = random.nextInt(4); i >= 0; i--) {
            if (random.nextInt(25) == 0) {
                out.append(pick(random, "\\y", "\\m", "\\M", "\\Y"));
            } else if (depth > 0 && random.nextInt(25) == 0) {
                alternatives(random, depth - 1, out.append(pick(random, "(?=", "(?!", "(?<=", "(?<!")));
                out.append(')');
            } else {
                atom(random, depth, out);
                out.append(pick(random, QUANTIFIERS));
            }
        }
        out.append(random.nextInt(15) == 0 ? "$" : "");
    }

    private static void atom(SplittableRandom random, int depth, StringBuilder out) {
        int kind = random.nextInt(depth > 0 ? 13 : 8);
        if (kind >= 9) {
            alternatives(random, depth - 1, out.append(kind == 9 ? "(?:" : "("));
            out.append(')');
        } else {
            out.append(pick(random, ".", "[ab]", "[^aü]", "\\w", "a", "b", "a", "b", "c", "ü", " "));
            if (kind == 8 && random.nextInt(3) == 0) {
                out.append(pick(random, "\\1", "\\2"));
            }
        }
    }

    /** Its matches as {@code from-to{group|group}}, in characters, or what is wrong with it. */
    String matches(BufferAllocator allocator) {
        RegexMatcher matcher;
        try {
            matcher = new RegexMatcher(Regex.compile(pattern, RegexFlags.NONE.with(options)));
        } catch (MillraceException e) {
            return "error";
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        StringBuilder found = new StringBuilder();
        try (ArrowBuf buffer = allocator.buffer(bytes.length + 1L)) {
            Memory.copyIn(bytes, 0, buffer.memoryAddress(), bytes.length);
            matcher.reset(buffer.memoryAddress(), bytes.length);
            boolean any = matcher.matches();
            int from = 0;
            while (from <= bytes.length && matcher.find(from)) {
                found.append(characters(bytes, matcher.start()))
                        .append('-')
                        .append(characters(bytes, matcher.end()))
                        .append('{');
                for (int group = Math.min(1, matcher.groups()); group <= matcher.groups(); group++) {
                    found.append(group > 1 ? "|" : "").append(part(bytes, matcher, group));
                }
                found.append('}');
                from = matcher.end() > matcher.start() ? matcher.end() : next(bytes, matcher.end());
            }
            if (any != found.length() > 0) {
                throw new AssertionError("matches() says " + any + " where " + found + " is found: " + this);
            }
        }
        return found.toString();
    }

    private static String part(byte[] bytes, RegexMatcher matcher, int group) {
        int start = matcher.start(group);
        return start < 0 ? "NULL" : new String(bytes, start, matcher.end(group) - start, StandardCharsets.UTF_8);
    }

    private static int characters(byte[] bytes, int length) {
        String before = new String(bytes, 0, length, StandardCharsets.UTF_8);
        return before.codePointCount(0, before.length());
    }

    private static int next(byte[] bytes, int at) {
        int next = at + 1;
        while (next < bytes.length && (bytes[next] & 0xc0) == 0x80) {
            next++;
        }
        return next;
    }

    String line(String result) {
        return escaped(options) + '\t' + escaped(pattern) + '\t' + escaped(text) + '\t' + escaped(result);
    }

    static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t");
    }

    static String plain(String escaped) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < escaped.length(); i++) {
            char c = escaped.charAt(i);
            if (c == '\\') {
                char next = escaped.charAt(++i);
                plain.append(next == 'n' ? '\n' : next == 't' ? '\t' : next);
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
