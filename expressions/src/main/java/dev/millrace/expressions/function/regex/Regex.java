package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A compiled regular expression. Immutable, safe on any thread; {@link RegexMatcher} finds its matches. */
public final class Regex {
    private static final int MOST_LOOKS = 6; // each doubles the automata's tables

    private final RegexSyntax syntax;
    private final int groupCount;
    private final boolean ignoreCase;
    private final boolean atStart;
    private final RegexPart tree;
    private final Map<Integer, RegexSyntax> groups;
    private final Map<RegexSyntax.Look, Integer> looks = new LinkedHashMap<>(); // inner ones before those around them
    private final Alphabet alphabet;
    private final Program program;
    private final Optional<RequiredLiteral> required;
    private final Optional<OneWay> oneWay;

    private Regex(Parser.Parsed parsed) {
        syntax = parsed.syntax();
        groupCount = parsed.groups();
        ignoreCase = parsed.ignoreCase();
        atStart = OneWay.isAtStart(syntax);
        groups = RegexPart.groups(syntax);
        List<CharSet> sets = new ArrayList<>();
        collect(syntax, sets);
        if (looks.size() > MOST_LOOKS) {
            throw Parser.invalid("regular expression is too complex")
                    .withHint("It may look ahead and behind in " + MOST_LOOKS + " different ways.");
        }
        alphabet = new Alphabet(sets);
        tree = RegexPart.of(syntax);
        program = program(syntax, false);
        required = RequiredLiteral.of(syntax);
        oneWay = OneWay.of(syntax, program, tree.isShortest());
    }

    /**
     * Compiles a pattern.
     *
     * @throws dev.millrace.error.MillraceException when it is none (2201B)
     */
    public static Regex compile(String pattern, RegexFlags flags) {
        return new Regex(Parser.parse(pattern, flags));
    }

    /** How many groups it captures. */
    public int groups() {
        return groupCount;
    }

    boolean ignoresCase() {
        return ignoreCase;
    }

    /** Whether the expression matches at the start of the text only. */
    boolean atStart() {
        return atStart;
    }

    RegexPart tree() {
        return tree;
    }

    Alphabet alphabet() {
        return alphabet;
    }

    List<RegexSyntax.Look> looks() {
        return List.copyOf(looks.keySet());
    }

    RegexSyntax syntax() {
        return syntax;
    }

    /** Of the whole, to be read forwards. */
    Program program() {
        return program;
    }

    /** Of a part. */
    Program program(RegexSyntax part, boolean backwards) {
        return ProgramBuilder.build(part, alphabet, groups, looks, backwards);
    }

    /** Bytes that every match contains, if such are known. */
    Optional<RequiredLiteral> required() {
        return required;
    }

    /** As an expression that never has a choice, if it is one. */
    Optional<OneWay> oneWay() {
        return oneWay;
    }

    /** Gathers sets of characters and lookarounds. */
    private void collect(RegexSyntax part, List<CharSet> sets) {
        Interrupt.checkCurrent();
        if (part instanceof RegexSyntax.Literal literal) {
            sets.add(CharSet.of(literal.codePoint()));
        } else if (part instanceof RegexSyntax.OneOf one) {
            sets.add(one.set());
        } else if (part instanceof RegexSyntax.Sequence sequence) {
            sequence.parts().forEach(each -> collect(each, sets));
        } else if (part instanceof RegexSyntax.Alternatives alternatives) {
            alternatives.branches().forEach(each -> collect(each, sets));
        } else if (part instanceof RegexSyntax.Group group) {
            collect(group.body(), sets);
        } else if (part instanceof RegexSyntax.Repeat repeat) {
            collect(repeat.body(), sets);
        } else if (part instanceof RegexSyntax.At at) {
            boolean words = at.place().ordinal() >= RegexSyntax.Place.WORD_START.ordinal();
            sets.add(words ? CharacterClasses.word() : CharSet.of('\n'));
        } else if (part instanceof RegexSyntax.Look look) {
            collect(look.body(), sets);
            looks.putIfAbsent(look, looks.size());
        }
    }
}
