package dev.millrace.expressions.function.regex;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * An expression that never has a choice: wherever a match stands, the next character leads on in one way at most, and it
 * goes on as long as it is wanted to. Whatever is tried then is right or fails at once, so that one walk finds the match
 * and its groups; RE2 and Brüggemann-Klein ("One-unambiguous regular languages") call such expressions one-pass.
 * Immutable.
 */
final class OneWay {
    private static final int MOST_STEPS = 1000; // of the program; the walk calls itself for each

    private final Node first;
    private final int counters;
    private final boolean atStart;
    private final Optional<RequiredLiteral> required;
    private final Optional<CharSet> firstCharacter;

    private OneWay(Node first, int counters, RegexSyntax syntax) {
        this.first = first;
        this.counters = counters;
        this.atStart = isAtStart(syntax);
        this.required = RequiredLiteral.of(syntax);
        this.firstCharacter = firstCharacter(firstPart(syntax));
    }

    /** Empty when the expression has choices. */
    static Optional<OneWay> of(RegexSyntax syntax, Program program, boolean shortest) {
        if (program.size() > MOST_STEPS || !isSimple(syntax) || !new Check(program, shortest).isOneWay()) {
            return Optional.empty();
        }
        Compiler compiler = new Compiler();
        Node first = compiler.compile(syntax, new Node.Accept());
        return Optional.of(new OneWay(first, compiler.counters, syntax));
    }

    Node first() {
        return first;
    }

    int counters() {
        return counters;
    }

    /** Whether the expression matches at the start of the text only. */
    boolean atStart() {
        return atStart;
    }

    /** Bytes that every match contains, if such are known. */
    Optional<RequiredLiteral> required() {
        return required;
    }

    /** What every match begins with, if that is known. */
    Optional<CharSet> firstCharacter() {
        return firstCharacter;
    }

    static boolean isAtStart(RegexSyntax syntax) {
        return firstPart(syntax).equals(new RegexSyntax.At(RegexSyntax.Place.TEXT_START));
    }

    private static RegexSyntax firstPart(RegexSyntax syntax) {
        if (syntax instanceof RegexSyntax.Sequence sequence && !sequence.parts().isEmpty()) {
            return firstPart(sequence.parts().get(0));
        }
        return syntax instanceof RegexSyntax.Group group ? firstPart(group.body()) : syntax;
    }

    private static Optional<CharSet> firstCharacter(RegexSyntax part) {
        if (part instanceof RegexSyntax.Repeat repeat && repeat.least() > 0) {
            return firstCharacter(firstPart(repeat.body()));
        }
        return single(part);
    }

    /** The set a syntax stands for if it is one character. */
    private static Optional<CharSet> single(RegexSyntax syntax) {
        if (syntax instanceof RegexSyntax.OneOf one) {
            return Optional.of(one.set());
        }
        return syntax instanceof RegexSyntax.Literal literal
                ? Optional.of(CharSet.of(literal.codePoint()))
                : Optional.empty();
    }

    /** Whether loops are over single characters or have an end, and groups are in none, whose last round would count. */
    private static boolean isSimple(RegexSyntax syntax) {
        if (syntax instanceof RegexSyntax.Sequence sequence) {
            return sequence.parts().stream().allMatch(OneWay::isSimple);
        }
        if (syntax instanceof RegexSyntax.Alternatives alternatives) {
            return alternatives.branches().stream().allMatch(OneWay::isSimple);
        }
        if (syntax instanceof RegexSyntax.Group group) {
            return isSimple(group.body());
        }
        if (syntax instanceof RegexSyntax.Repeat repeat) {
            return single(repeat.body()).isPresent()
                    || repeat.most() == 1 && isSimple(repeat.body())
                    || repeat.most() != RegexSyntax.Repeat.UNLIMITED
                            && repeat.most() > 0
                            && isWithoutGroups(repeat.body());
        }
        return !(syntax instanceof RegexSyntax.BackReference) && !(syntax instanceof RegexSyntax.Look);
    }

    private static boolean isWithoutGroups(RegexSyntax syntax) {
        return isSimple(syntax) && RegexPart.groups(syntax).isEmpty();
    }

    /** Looks at what can come next wherever a match can stand. */
    private static final class Check {
        private final Program program;
        private final boolean shortest;
        private final int[] seen;
        private final int[] order;
        private int found;
        private boolean ends;
        private boolean choice;

        Check(Program program, boolean shortest) {
            this.program = program;
            this.shortest = shortest;
            this.seen = new int[program.size()];
            this.order = new int[program.size()];
        }

        boolean isOneWay() {
            boolean[] reached = new boolean[program.size()];
            int[] open = new int[program.size() + 1];
            int count = 0;
            open[count++] = program.start();
            reached[program.start()] = true;
            for (int i = 0; i < count; i++) {
                found = 0;
                ends = false;
                follow(open[i], i + 1);
                if (choice || isAmbiguous()) {
                    return false;
                }
                for (int k = 0; k < found; k++) {
                    int next = program.next(order[k]);
                    if (!reached[next]) {
                        reached[next] = true;
                        open[count++] = next;
                    }
                }
            }
            return true;
        }

        /** Goes through all that consumes nothing, what is preferred first. */
        private void follow(int step, int round) {
            if (choice || seen[step] == round) {
                choice = true; // two ways to one place
                return;
            }
            seen[step] = round;
            switch (program.kind(step)) {
                case CONSUME -> {
                    choice |= shortest ? false : ends; // it would end though it could go on
                    order[found++] = step;
                }
                case ACCEPT -> {
                    choice |= shortest && found > 0;
                    ends = true;
                }
                case SPLIT -> {
                    follow(program.next(step), round);
                    follow(program.other(step), round);
                }
                case AT, LOOK -> follow(program.next(step), round);
            }
        }

        private boolean isAmbiguous() {
            if (found < 2) {
                return false;
            }
            long[] all = program.classes(order[0]).clone();
            for (int i = 1; i < found; i++) {
                long[] classes = program.classes(order[i]);
                for (int word = 0; word < all.length; word++) {
                    if ((all[word] & classes[word]) != 0) {
                        return true;
                    }
                    all[word] |= classes[word];
                }
            }
            return false;
        }
    }

    /** Makes nodes, each with the one that follows it. */
    private static final class Compiler {
        private int counters;

        Node compile(RegexSyntax syntax, Node next) {
            if (syntax instanceof RegexSyntax.Sequence sequence) {
                return sequence(sequence.parts(), next);
            }
            if (syntax instanceof RegexSyntax.Literal literal) {
                return new Node.Literal(RequiredLiteral.utf8(literal.codePoint()), next);
            }
            if (syntax instanceof RegexSyntax.OneOf one) {
                return new Node.Run(one.set(), 1, 1, true, next);
            }
            if (syntax instanceof RegexSyntax.Alternatives alternatives) {
                return new Node.Choice(alternatives.branches().stream()
                        .map(branch -> compile(branch, next))
                        .toArray(Node[]::new));
            }
            if (syntax instanceof RegexSyntax.Group group) {
                Node end = new Node.Mark(2 * group.number() + 1, next);
                return new Node.Mark(2 * group.number(), compile(group.body(), end));
            }
            if (syntax instanceof RegexSyntax.Repeat repeat) {
                return repeat(repeat, next);
            }
            return new Node.At(((RegexSyntax.At) syntax).place(), next);
        }

        /** From the last part to the first; literals side by side become one. */
        private Node sequence(List<RegexSyntax> parts, Node last) {
            Node next = last;
            for (int i = parts.size() - 1; i >= 0; i--) {
                StringBuilder run = new StringBuilder();
                while (i >= 0 && parts.get(i) instanceof RegexSyntax.Literal literal) {
                    run.insert(0, Character.toString(literal.codePoint()));
                    i--;
                }
                if (!run.isEmpty()) {
                    next = new Node.Literal(run.toString().getBytes(StandardCharsets.UTF_8), next);
                }
                if (i >= 0) {
                    next = compile(parts.get(i), next);
                }
            }
            return next;
        }

        private Node repeat(RegexSyntax.Repeat repeat, Node next) {
            Optional<CharSet> single = single(repeat.body());
            if (single.isPresent()) {
                return new Node.Run(single.get(), repeat.least(), repeat.most(), repeat.greedy(), next);
            }
            int slot = counters;
            counters += 2;
            Node.Loop loop = new Node.Loop(slot, repeat.least(), repeat.most(), repeat.greedy(), next);
            loop.setBody(compile(repeat.body(), loop));
            return new Node.Enter(slot, loop);
        }
    }
}
