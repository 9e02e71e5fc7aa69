package dev.millrace.expressions.function.regex;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A part of an expression as PostgreSQL divides it to say what its groups are (its manual, 9.7.3.5): whether a part takes
 * as much or as little as it can is said by its first quantifier, and one part has its wish before those that follow.
 * A part without groups whose quantifiers agree is not divided further. Immutable.
 */
final class RegexPart {
    /** What a part consists of. */
    enum Kind {
        /** Nothing that would have to be known. */
        PLAIN,
        /** Two parts, one behind the other. */
        SEQUENCE,
        /** The first of its parts that matches. */
        ALTERNATIVES,
        /** Its only part, again and again. */
        ITERATION,
        /** The text of a group, again and again. */
        BACK_REFERENCE,
        /** Its only part, as a group of its own. */
        GROUP
    }

    private static final int LONGEST = 1;
    private static final int SHORTEST = 2;
    private static final int MIXED = 4; // both of these below
    private static final int CAPTURES = 8;
    private static final int REFERS = 16;
    private static final int MOST_PARTS = 1000;

    final Kind kind;
    final int group; // that it is; 0 for none
    final RegexSyntax syntax;
    final List<RegexPart> parts;
    final int least; // iterations
    final int most;
    final int referred; // group
    private final int flags;

    private RegexPart(
            Kind kind,
            int flags,
            int group,
            RegexSyntax syntax,
            List<RegexPart> parts,
            int least,
            int most,
            int referred) {
        this.kind = kind;
        this.flags = flags;
        this.group = group;
        this.syntax = syntax;
        this.parts = parts;
        this.least = least;
        this.most = most;
        this.referred = referred;
    }

    /** Whether the part takes as little text as it can. */
    boolean isShortest() {
        return (flags & SHORTEST) != 0;
    }

    /** Whether there is a back reference in it. */
    boolean refers() {
        return (flags & REFERS) != 0;
    }

    /** Whether there is a group or back reference in it, so that there is something to find out. */
    boolean isDivided() {
        return (flags & (CAPTURES | REFERS)) != 0;
    }

    static RegexPart of(RegexSyntax syntax) {
        return new Division().part(syntax);
    }

    private static int up(int flags) {
        return flags & (MIXED | CAPTURES | REFERS) | ((flags & 3) == 3 ? MIXED : 0);
    }

    private static int wish(int flags) {
        return flags & (LONGEST | SHORTEST);
    }

    private static int combine(int first, int second) {
        return up(first | second) | (wish(first) != 0 ? wish(first) : wish(second));
    }

    private static boolean isMessy(int flags) {
        return (up(flags) & (MIXED | CAPTURES | REFERS)) != 0;
    }

    private static int wish(RegexSyntax.Preference preference) {
        return switch (preference) {
            case NONE -> 0;
            case LONGEST -> LONGEST;
            case SHORTEST -> SHORTEST;
        };
    }

    private static RegexPart plain(int flags, RegexSyntax syntax) {
        return new RegexPart(Kind.PLAIN, flags, 0, syntax, List.of(), 1, 1, 0);
    }

    private static RegexPart sequence(int flags, RegexSyntax syntax, RegexPart first, RegexPart second) {
        return new RegexPart(Kind.SEQUENCE, flags, 0, syntax, List.of(first, second), 1, 1, 0);
    }

    /** Divides one expression. */
    private static final class Division {
        private int parts;

        RegexPart part(RegexSyntax syntax) {
            if (syntax instanceof RegexSyntax.Alternatives alternatives) {
                return alternatives(alternatives);
            }
            if (syntax instanceof RegexSyntax.Group group) {
                return group(group);
            }
            return branch(syntax instanceof RegexSyntax.Sequence sequence ? sequence.parts() : List.of(syntax));
        }

        private RegexPart alternatives(RegexSyntax.Alternatives syntax) {
            int flags = LONGEST;
            List<RegexPart> branches = new ArrayList<>();
            for (RegexSyntax branch : syntax.branches()) {
                RegexPart part = part(branch);
                branches.add(part);
                flags |= up(flags | part.flags);
            }
            return isMessy(flags)
                    ? new RegexPart(Kind.ALTERNATIVES, flags, 0, syntax, branches, 1, 1, 0)
                    : plain(flags, syntax);
        }

        private RegexPart group(RegexSyntax.Group syntax) {
            RegexPart body = part(syntax.body());
            if (body.group == 0) {
                return new RegexPart(
                        body.kind,
                        body.flags | CAPTURES,
                        syntax.number(),
                        syntax,
                        body.parts,
                        body.least,
                        body.most,
                        body.referred);
            }
            return new RegexPart(Kind.GROUP, body.flags | CAPTURES, syntax.number(), syntax, List.of(body), 1, 1, 0);
        }

        private RegexPart branch(List<RegexSyntax> items) {
            if (++parts > MOST_PARTS) {
                throw Parser.invalid("regular expression is too complex");
            }
            int flags = 0;
            for (int i = 0; i < items.size(); i++) {
                RegexSyntax item = items.get(i);
                RegexSyntax.Repeat repeat = item instanceof RegexSyntax.Repeat given
                        ? given
                        : new RegexSyntax.Repeat(item, 1, 1, RegexSyntax.Preference.NONE);
                if (repeat.most() == 0 || isSimple(item)) {
                    continue; // nothing repeated is nothing, with all its groups
                }
                boolean refers = repeat.body() instanceof RegexSyntax.BackReference;
                RegexPart atom = refers || isSimple(repeat.body())
                        ? plain(refers ? REFERS : 0, repeat.body())
                        : part(repeat.body());
                int wish = wish(repeat.preference());
                int all = flags | wish | atom.flags;
                if (!isMessy(all)) {
                    flags = all;
                    continue;
                }
                return divided(items, i, flags, quantified(repeat, atom, wish), combine(wish, atom.flags));
            }
            return plain(flags, new RegexSyntax.Sequence(items));
        }

        /** What comes before an item, the item, and what follows. */
        private RegexPart divided(List<RegexSyntax> items, int at, int flagsBefore, RegexPart item, int itemFlags) {
            RegexPart rest = item;
            if (at + 1 < items.size()) {
                RegexPart following = branch(items.subList(at + 1, items.size()));
                rest = sequence(
                        itemFlags | combine(itemFlags, following.flags),
                        new RegexSyntax.Sequence(items.subList(at, items.size())),
                        item,
                        following);
            }
            if (at == 0) {
                return rest;
            }
            return sequence(
                    flagsBefore | combine(flagsBefore, rest.flags),
                    new RegexSyntax.Sequence(items),
                    plain(flagsBefore, new RegexSyntax.Sequence(items.subList(0, at))),
                    rest);
        }

        private RegexPart quantified(RegexSyntax.Repeat repeat, RegexPart atom, int wish) {
            int flags = combine(wish, atom.flags);
            if (repeat.body() instanceof RegexSyntax.BackReference reference) {
                return new RegexPart(
                        Kind.BACK_REFERENCE,
                        flags,
                        0,
                        repeat,
                        List.of(),
                        repeat.least(),
                        repeat.most(),
                        reference.group());
            }
            if (repeat.least() == 1 && repeat.most() == 1) {
                int own = atom.flags & (LONGEST | SHORTEST | MIXED);
                if (wish == 0 || own == 0 || own == wish) {
                    return atom;
                }
            }
            if (!atom.isDivided()) {
                return plain(flags, repeat);
            }
            if (repeat.least() > 0 && !atom.refers()) {
                // Only what the last iteration matched is asked for.
                int most = repeat.most() == RegexSyntax.Repeat.UNLIMITED ? repeat.most() : repeat.most() - 1;
                RegexSyntax before =
                        new RegexSyntax.Repeat(repeat.body(), repeat.least() - 1, most, repeat.preference());
                return sequence(flags, repeat, plain(wish(flags), before), atom);
            }
            return new RegexPart(Kind.ITERATION, flags, 0, repeat, List.of(atom), repeat.least(), repeat.most(), 0);
        }

        private static boolean isSimple(RegexSyntax syntax) {
            return syntax instanceof RegexSyntax.Literal
                    || syntax instanceof RegexSyntax.OneOf
                    || syntax instanceof RegexSyntax.At
                    || syntax instanceof RegexSyntax.Look;
        }
    }

    /** The groups of a syntax by their numbers. */
    static Map<Integer, RegexSyntax> groups(RegexSyntax syntax) {
        Map<Integer, RegexSyntax> groups = new HashMap<>();
        collectGroups(syntax, groups);
        return groups;
    }

    private static void collectGroups(RegexSyntax syntax, Map<Integer, RegexSyntax> into) {
        if (syntax instanceof RegexSyntax.Group group) {
            into.put(group.number(), group.body());
            collectGroups(group.body(), into);
        } else if (syntax instanceof RegexSyntax.Sequence sequence) {
            sequence.parts().forEach(part -> collectGroups(part, into));
        } else if (syntax instanceof RegexSyntax.Alternatives alternatives) {
            alternatives.branches().forEach(branch -> collectGroups(branch, into));
        } else if (syntax instanceof RegexSyntax.Repeat repeat) {
            collectGroups(repeat.body(), into);
        }
    }
}
