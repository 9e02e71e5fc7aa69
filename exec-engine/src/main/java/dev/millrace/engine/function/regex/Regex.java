package dev.millrace.engine.function.regex;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** A compiled regular expression. Immutable, safe on any thread; {@link RegexMatcher} finds its matches. */
public final class Regex {
    private final Node first;
    private final int groups;
    private final int counters;
    private final boolean atStart;
    private final Optional<RequiredLiteral> required;
    private final Optional<CharSet> firstCharacter;

    private Regex(
            Node first,
            int groups,
            int counters,
            boolean atStart,
            Optional<RequiredLiteral> required,
            Optional<CharSet> firstCharacter) {
        this.first = first;
        this.groups = groups;
        this.counters = counters;
        this.atStart = atStart;
        this.required = required;
        this.firstCharacter = firstCharacter;
    }

    /**
     * Compiles a pattern.
     *
     * @throws dev.millrace.error.MillraceException when it is none (2201B)
     */
    public static Regex compile(String pattern, RegexFlags flags) {
        Parser.Parsed parsed = Parser.parse(pattern, flags);
        Compiler compiler = new Compiler(parsed.ignoreCase());
        Node first = compiler.compile(parsed.syntax(), new Node.Accept());
        return new Regex(
                first,
                parsed.groups(),
                compiler.counters,
                firstPart(parsed.syntax()).equals(new Syntax.At(Syntax.Place.TEXT_START)),
                RequiredLiteral.of(parsed.syntax()),
                firstCharacter(firstPart(parsed.syntax())));
    }

    /** How many groups it captures. */
    public int groups() {
        return groups;
    }

    Node first() {
        return first;
    }

    int counters() {
        return counters;
    }

    /** Whether it matches at the start of the text only. */
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

    private static Syntax firstPart(Syntax syntax) {
        if (syntax instanceof Syntax.Sequence sequence && !sequence.parts().isEmpty()) {
            return firstPart(sequence.parts().get(0));
        }
        return syntax instanceof Syntax.Group group ? firstPart(group.body()) : syntax;
    }

    private static Optional<CharSet> firstCharacter(Syntax part) {
        if (part instanceof Syntax.Repeat repeat && repeat.least() > 0) {
            return firstCharacter(firstPart(repeat.body()));
        }
        return single(part);
    }

    /** The set a syntax stands for if it is one character. */
    private static Optional<CharSet> single(Syntax syntax) {
        if (syntax instanceof Syntax.OneOf one) {
            return Optional.of(one.set());
        }
        if (syntax instanceof Syntax.Literal literal) {
            return Optional.of(CharSet.builder()
                    .add(literal.codePoint(), literal.codePoint())
                    .build(false, false));
        }
        return Optional.empty();
    }

    /** Makes nodes, each with the one that follows it. */
    private static final class Compiler {
        private final boolean ignoreCase;
        private int counters;

        Compiler(boolean ignoreCase) {
            this.ignoreCase = ignoreCase;
        }

        Node compile(Syntax syntax, Node next) {
            if (syntax instanceof Syntax.Sequence sequence) {
                return sequence(sequence.parts(), next);
            }
            if (syntax instanceof Syntax.Literal literal) {
                return new Node.Literal(utf8(literal.codePoint()), next);
            }
            if (syntax instanceof Syntax.OneOf one) {
                return new Node.Run(one.set(), 1, 1, true, next);
            }
            if (syntax instanceof Syntax.Alternatives alternatives) {
                return new Node.Choice(alternatives.branches().stream()
                        .map(branch -> compile(branch, next))
                        .toArray(Node[]::new));
            }
            if (syntax instanceof Syntax.Group group) {
                Node end = new Node.Mark(2 * group.number() + 1, next);
                return new Node.Mark(2 * group.number(), compile(group.body(), end));
            }
            if (syntax instanceof Syntax.Repeat repeat) {
                return repeat(repeat, next);
            }
            if (syntax instanceof Syntax.At at) {
                return new Node.At(at.place(), next);
            }
            if (syntax instanceof Syntax.BackReference reference) {
                return new Node.BackReference(reference.group(), ignoreCase, next);
            }
            Syntax.Look look = (Syntax.Look) syntax;
            int slot = look.behind() ? counters++ : -1;
            Node end = look.behind() ? new Node.AcceptAt(slot) : new Node.Accept();
            return new Node.Look(compile(look.body(), end), slot, look.negated(), next);
        }

        /** From the last part to the first; literals side by side become one. */
        private Node sequence(List<Syntax> parts, Node last) {
            Node next = last;
            for (int i = parts.size() - 1; i >= 0; i--) {
                StringBuilder run = new StringBuilder();
                while (i >= 0 && parts.get(i) instanceof Syntax.Literal literal) {
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

        private Node repeat(Syntax.Repeat repeat, Node next) {
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

    static byte[] utf8(int codePoint) {
        return Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    }
}
