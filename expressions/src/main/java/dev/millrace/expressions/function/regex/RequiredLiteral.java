package dev.millrace.expressions.function.regex;

import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * Bytes that every match contains, found by a plain search before the matcher is asked: most texts are refused by it,
 * and where only so many bytes can come before them, a match is tried nowhere else.
 */
final class RequiredLiteral {
    private static final int UNLIMITED = 1 << 20;
    private static final int MOST_BYTES = 64; // the plain search compares all of them wherever the first ones are

    private final byte[] bytes;
    private final int least; // bytes of a match before the literal
    private final int most;
    private final int rarest; // index of the pair of bytes that is searched for

    private RequiredLiteral(byte[] bytes, int least, int most) {
        this.bytes = bytes;
        this.least = least;
        this.most = most;
        int best = 0;
        for (int i = 1; i + 1 < bytes.length; i++) {
            best = pairCommonness(i) < pairCommonness(best) ? i : best;
        }
        this.rarest = best;
    }

    private int pairCommonness(int index) {
        return bytes.length < 2 ? 0 : commonness(bytes[index]) * commonness(bytes[index + 1]);
    }

    /** A guess for addresses, logs and prose. */
    private static int commonness(byte b) {
        if (b >= 'a' && b <= 'z') {
            return 4;
        }
        if (b == ' ' || b == '/' || b == '.' || b == '-' || b == '0' || b == '1') {
            return 3;
        }
        return (b >= '0' && b <= '9') || b == '=' || b == ':' || b == ',' || b == '&' ? 2 : 1;
    }

    int least() {
        return least;
    }

    int most() {
        return most;
    }

    /** Whether the literal lies within a known distance of the start of a match. */
    boolean isBounded() {
        return most < UNLIMITED;
    }

    /** The first place at or after {@code from}, or -1. */
    int find(long address, int length, int from) {
        if (bytes.length == 1) {
            return Bytes.indexOf(address, length, bytes[0], from);
        }
        int end = length - bytes.length + rarest + 2; // behind the last place for the rarest pair
        int at = from + rarest;
        while ((at = Bytes.indexOfPair(address, end, bytes[rarest], bytes[rarest + 1], at)) >= 0) {
            if (isAt(address + at - rarest)) {
                return at - rarest;
            }
            at++;
        }
        return -1;
    }

    private boolean isAt(long address) {
        for (int i = 0; i < bytes.length; i++) {
            if (Memory.getByte(address + i) != bytes[i]) {
                return false;
            }
        }
        return true;
    }

    /** The longest literal, those at a bounded distance first. */
    static Optional<RequiredLiteral> of(RegexSyntax syntax) {
        Search search = new Search();
        search.scan(syntax);
        search.endRun();
        return search.best;
    }

    /** Walks over what every match goes through, from left to right. */
    private static final class Search {
        private Optional<RequiredLiteral> best = Optional.empty();
        private final StringBuilder run = new StringBuilder();
        private int runLeast;
        private int runMost;
        private int least;
        private int most;

        void scan(RegexSyntax syntax) {
            if (syntax instanceof RegexSyntax.Sequence sequence) {
                sequence.parts().forEach(this::scan);
            } else if (syntax instanceof RegexSyntax.Group group) {
                scan(group.body());
            } else if (syntax instanceof RegexSyntax.Literal literal) {
                if (run.isEmpty()) {
                    runLeast = least;
                    runMost = most;
                }
                run.append(Character.toString(literal.codePoint()));
                add(width(syntax));
            } else if (!(syntax instanceof RegexSyntax.At)) {
                endRun();
                add(width(syntax));
            }
        }

        private void add(Width width) {
            least = Math.min(UNLIMITED, least + width.least);
            most = Math.min(UNLIMITED, most + width.most);
        }

        void endRun() {
            if (!run.isEmpty()) {
                byte[] all = run.toString().getBytes(StandardCharsets.UTF_8);
                RequiredLiteral found =
                        new RequiredLiteral(Arrays.copyOf(all, Math.min(all.length, MOST_BYTES)), runLeast, runMost);
                if (best.isEmpty() || found.isBetterThan(best.get())) {
                    best = Optional.of(found);
                }
                run.setLength(0);
            }
        }
    }

    private boolean isBetterThan(RequiredLiteral other) {
        return isBounded() != other.isBounded() ? isBounded() : bytes.length > other.bytes.length;
    }

    static byte[] utf8(int codePoint) {
        return Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    }

    /** How many bytes every match of something takes; -1 when they differ. */
    static int exactWidth(RegexSyntax syntax) {
        Width width = width(syntax);
        return width.least == width.most && width.most < UNLIMITED ? width.least : -1;
    }

    /** Bytes a match of something takes. */
    private record Width(int least, int most) {}

    private static Width width(RegexSyntax syntax) {
        if (syntax instanceof RegexSyntax.Literal literal) {
            int bytes = utf8(literal.codePoint()).length;
            return new Width(bytes, bytes);
        }
        if (syntax instanceof RegexSyntax.OneOf one) {
            return new Width(1, one.set().isAscii() ? 1 : 4);
        }
        if (syntax instanceof RegexSyntax.Group group) {
            return width(group.body());
        }
        if (syntax instanceof RegexSyntax.Sequence sequence) {
            int least = 0;
            int most = 0;
            for (RegexSyntax part : sequence.parts()) {
                least = Math.min(UNLIMITED, least + width(part).least);
                most = Math.min(UNLIMITED, most + width(part).most);
            }
            return new Width(least, most);
        }
        if (syntax instanceof RegexSyntax.Alternatives alternatives) {
            int least = UNLIMITED;
            int most = 0;
            for (RegexSyntax branch : alternatives.branches()) {
                least = Math.min(least, width(branch).least);
                most = Math.max(most, width(branch).most);
            }
            return new Width(least, most);
        }
        if (syntax instanceof RegexSyntax.Repeat repeat) {
            Width body = width(repeat.body());
            long least = (long) body.least * repeat.least();
            long most = (long) body.most * repeat.most();
            return new Width((int) Math.min(UNLIMITED, least), (int) Math.min(UNLIMITED, most));
        }
        return syntax instanceof RegexSyntax.BackReference ? new Width(0, UNLIMITED) : new Width(0, 0);
    }
}
