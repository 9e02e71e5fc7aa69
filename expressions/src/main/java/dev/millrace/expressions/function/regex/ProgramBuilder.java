package dev.millrace.expressions.function.regex;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Builds programs of one expression's parts, to read texts forwards or backwards. */
final class ProgramBuilder {
    private final Alphabet alphabet;
    private final Map<Integer, RegexSyntax> groups;
    private final Map<RegexSyntax.Look, Integer> looks;
    private final boolean backwards;
    private final Program program = new Program();
    private int referred; // how deep in what back references stand for, where places do not count

    private ProgramBuilder(
            Alphabet alphabet,
            Map<Integer, RegexSyntax> groups,
            Map<RegexSyntax.Look, Integer> looks,
            boolean backwards) {
        this.alphabet = alphabet;
        this.groups = groups;
        this.looks = looks;
        this.backwards = backwards;
    }

    /**
     * @param groups the syntax of each group: a back reference may match whatever its group can
     * @param looks the number of each lookaround
     */
    static Program build(
            RegexSyntax syntax,
            Alphabet alphabet,
            Map<Integer, RegexSyntax> groups,
            Map<RegexSyntax.Look, Integer> looks,
            boolean backwards) {
        ProgramBuilder builder = new ProgramBuilder(alphabet, groups, looks, backwards);
        builder.program.startAt(builder.build(syntax, builder.program.accept()));
        return builder.program;
    }

    private int build(RegexSyntax syntax, int next) {
        if (syntax instanceof RegexSyntax.Sequence sequence) {
            return sequence(sequence.parts(), next);
        }
        if (syntax instanceof RegexSyntax.Literal literal) {
            return program.consume(alphabet.members(CharSet.of(literal.codePoint())), next);
        }
        if (syntax instanceof RegexSyntax.OneOf one) {
            return program.consume(alphabet.members(one.set()), next);
        }
        if (syntax instanceof RegexSyntax.Alternatives alternatives) {
            List<RegexSyntax> branches = alternatives.branches();
            int way = build(branches.get(branches.size() - 1), next);
            for (int i = branches.size() - 2; i >= 0; i--) {
                way = program.split(build(branches.get(i), next), way);
            }
            return way;
        }
        if (syntax instanceof RegexSyntax.Group group) {
            return build(group.body(), next);
        }
        if (syntax instanceof RegexSyntax.Repeat repeat) {
            return repeat(repeat, next);
        }
        if (syntax instanceof RegexSyntax.At at) {
            return referred > 0 ? next : program.at(at.place(), next);
        }
        if (syntax instanceof RegexSyntax.BackReference reference) {
            referred++;
            int step = build(Objects.requireNonNull(groups.get(reference.group())), next);
            referred--;
            return step;
        }
        return referred > 0 ? next : program.look(Objects.requireNonNull(looks.get((RegexSyntax.Look) syntax)), next);
    }

    private int sequence(List<RegexSyntax> parts, int last) {
        int next = last;
        for (int i = 0; i < parts.size(); i++) {
            next = build(parts.get(backwards ? i : parts.size() - 1 - i), next);
        }
        return next;
    }

    private int repeat(RegexSyntax.Repeat repeat, int next) {
        int step = next;
        int least = repeat.least();
        if (repeat.most() == RegexSyntax.Repeat.UNLIMITED) {
            int loop = program.split(-1, -1);
            int body = build(repeat.body(), loop);
            program.setWays(loop, repeat.greedy() ? body : next, repeat.greedy() ? next : body);
            step = least == 0 ? loop : body;
            least = Math.max(0, least - 1);
        } else {
            for (int i = repeat.most() - least; i > 0; i--) {
                int body = build(repeat.body(), step);
                step = repeat.greedy() ? program.split(body, next) : program.split(next, body);
            }
        }
        for (int i = 0; i < least; i++) {
            step = build(repeat.body(), step);
        }
        return step;
    }
}
