package dev.millrace.expressions.function.regex;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;

/** The sets of characters that have names; each is made when it is first asked for. */
final class CharacterClasses {
    private static final Map<String, Optional<CharSet>> KNOWN = new ConcurrentHashMap<>();

    private CharacterClasses() {}

    /** The set of a letter behind a backslash. */
    static Optional<CharSet> ofEscape(char c) {
        return switch (c) {
            case 'd' -> Optional.of(CharSet.DIGIT);
            case 'D' -> Optional.of(CharSet.DIGIT.negated());
            case 's' -> Optional.of(CharSet.SPACE);
            case 'S' -> Optional.of(CharSet.SPACE.negated());
            case 'w' -> Optional.of(word());
            case 'W' -> Optional.of(word().negated());
            default -> Optional.empty();
        };
    }

    /** Letters, digits and the underscore. */
    static CharSet word() {
        return named("word", false).orElseThrow();
    }

    /** The set of a name between colons in brackets; without regard to case, that of one case is that of all letters. */
    static Optional<CharSet> named(String name, boolean ignoreCase) {
        boolean cased = ignoreCase && (name.equals("lower") || name.equals("upper"));
        String asked = cased ? "alpha" : name;
        Optional<CharSet> known = KNOWN.get(asked);
        if (known == null) {
            known = make(asked);
            if (known.isPresent()) { // names that are none are many
                KNOWN.put(asked, known);
            }
        }
        return known;
    }

    private static Optional<CharSet> make(String name) {
        return switch (name) {
            case "alnum" -> of(Character::isLetterOrDigit);
            case "alpha" -> of(Character::isLetter);
            case "blank" -> of(c -> c == ' ' || c == '\t');
            case "cntrl" -> of(Character::isISOControl);
            case "digit" -> Optional.of(CharSet.DIGIT);
            case "graph" -> of(c -> c > ' ' && c != 127 && !CharSet.isSpace(c));
            case "lower" -> of(Character::isLowerCase);
            case "print" -> of(c -> c >= ' ' && c != 127);
            case "punct" -> of(c -> c > ' ' && c < 127 && !Character.isLetterOrDigit(c));
            case "space" -> Optional.of(CharSet.SPACE);
            case "upper" -> of(Character::isUpperCase);
            case "word" -> of(CharSet::isWord);
            case "xdigit" -> of(c -> c < 128 && Character.digit(c, 16) >= 0);
            default -> Optional.empty();
        };
    }

    private static Optional<CharSet> of(IntPredicate members) {
        return Optional.of(CharSet.builder().add(members).build(false, false));
    }
}
