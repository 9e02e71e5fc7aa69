package dev.millrace.sql.parser.feed;

import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Types of several words, and constants that begin with their type.
 *
 * @param type the type as one name
 * @param arguments the numbers in parentheses behind the type of a constant
 * @param constant the text of the constant, if there is one
 * @param constantAt how many tokens lie before it
 * @param length how many tokens belong to it all
 */
record TypeWords(String type, List<String> arguments, Optional<String> constant, int constantAt, int length) {
    private static final Set<String> TYPES_OF_CONSTANTS = Set.of("""
            bool boolean int2 smallint int int4 integer int8 bigint float4 real float8 numeric decimal text varchar bytea
            date time timestamp timestamptz interval uuid json jsonb""".split("\\s+"));

    private static final String ALL_DIGITS = "6";

    /** What may stand behind a bare number beside the fields. */
    private static final Set<String> INTERVAL_UNITS =
            Set.of("years", "months", "week", "weeks", "days", "hours", "minutes", "seconds");

    /** Whether a constant can begin with this type. */
    static boolean isType(String word) {
        return TYPES_OF_CONSTANTS.contains(word) || word.equals("double") || word.equals("character");
    }

    /** What begins at a word: empty when it is a plain word. */
    static Optional<TypeWords> at(List<Lexeme> lexemes, int place) {
        String word = lexemes.get(place).text();
        TypeWords type = type(word, lexemes, place);
        Lexeme next = lexeme(lexemes, place + type.length);
        if (next.kind() == Kind.STRING && (type.length > 1 || TYPES_OF_CONSTANTS.contains(word))) {
            return Optional.of(
                    type.type.equals("interval")
                            ? interval(type, next.text(), lexemes, place)
                            : new TypeWords(
                                    type.type, type.arguments, Optional.of(next.text()), type.length, type.length + 1));
        }
        return type.length > 1 ? Optional.of(type) : Optional.empty();
    }

    private static TypeWords type(String word, List<Lexeme> lexemes, int place) {
        if (word.equals("double") && lexeme(lexemes, place + 1).isWord("precision")) {
            return name("float8", 2);
        }
        if (word.equals("character") && lexeme(lexemes, place + 1).isWord("varying")) {
            return name("varchar", 2);
        }
        if (word.equals("interval") && isIntervalField(lexeme(lexemes, place + 1))) {
            return intervalOfFields(lexemes, place);
        }
        if (!word.equals("timestamp") && !word.equals("time")) {
            return withArguments(word, lexemes, place);
        }
        boolean precision = lexeme(lexemes, place + 1).isSymbol("(")
                && lexeme(lexemes, place + 3).isSymbol(")");
        int used = precision ? 4 : 1;
        boolean with = lexeme(lexemes, place + used).isWord("with");
        if ((with || lexeme(lexemes, place + used).isWord("without"))
                && lexeme(lexemes, place + used + 1).isWord("time")
                && lexeme(lexemes, place + used + 2).isWord("zone")) {
            List<String> arguments =
                    precision ? List.of(lexeme(lexemes, place + 2).text()) : List.of();
            return new TypeWords(with ? word + "tz" : word, arguments, Optional.empty(), 0, used + 3);
        }
        return withArguments(word, lexemes, place);
    }

    /** {@code interval day to second(3)}: digits of seconds, all if none are said, and the fields. */
    private static TypeWords intervalOfFields(List<Lexeme> lexemes, int place) {
        int last = place + 1;
        if (lexeme(lexemes, last + 1).isWord("to") && isIntervalField(lexeme(lexemes, last + 2))) {
            last += 2;
        }
        List<String> digits = lexeme(lexemes, last).isWord("second") ? digits(lexemes, last + 1) : List.of();
        IntervalFields fields = fields(lexeme(lexemes, place + 1), lexeme(lexemes, last));
        return new TypeWords(
                "interval", arguments(digits, fields), Optional.empty(), 0, last + 1 - place + 3 * digits.size());
    }

    private static List<String> arguments(List<String> digits, IntervalFields fields) {
        return List.of(digits.isEmpty() ? ALL_DIGITS : digits.get(0), Integer.toString(fields.number()));
    }

    private static IntervalFields fields(Lexeme first, Lexeme last) {
        return new IntervalFields(
                IntervalFields.NAMES.indexOf(first.text()), IntervalFields.NAMES.indexOf(last.text()));
    }

    /** {@code numeric(5, 2) '1.5'}: only before a constant do the parentheses belong to a type. */
    private static TypeWords withArguments(String word, List<Lexeme> lexemes, int place) {
        List<String> arguments = new ArrayList<>();
        int at = place + 1;
        while (TYPES_OF_CONSTANTS.contains(word)
                && lexeme(lexemes, at).isSymbol(arguments.isEmpty() ? "(" : ",")
                && lexeme(lexemes, at + 1).kind() == Kind.INTEGER) {
            arguments.add(lexeme(lexemes, at + 1).text());
            at += 2;
        }
        boolean constant = !arguments.isEmpty()
                && lexeme(lexemes, at).isSymbol(")")
                && lexeme(lexemes, at + 1).kind() == Kind.STRING;
        return constant ? new TypeWords(word, arguments, Optional.empty(), 0, at + 1 - place) : name(word, 1);
    }

    private static TypeWords name(String type, int length) {
        return new TypeWords(type, List.of(), Optional.empty(), 0, length);
    }

    /** {@code INTERVAL '...'} with the fields that may follow, put into its text, and the digits of its seconds. */
    private static TypeWords interval(TypeWords type, String text, List<Lexeme> lexemes, int place) {
        int used = type.length + 1;
        Lexeme field = lexeme(lexemes, place + used);
        if (isNumber(text) && isUnit(field)) { // Flink's INTERVAL '10' MINUTES; behind '10 minutes' it is an alias
            return interval(type.arguments, text + " " + field.text(), type.length, used + 1);
        }
        if (!isIntervalField(field)) {
            return interval(type.arguments, text, type.length, used);
        }
        used++;
        List<String> digits = digits(lexemes, place + used);
        used += 3 * digits.size();
        Lexeme last = field;
        if (lexeme(lexemes, place + used).isWord("to") && isIntervalField(lexeme(lexemes, place + used + 1))) {
            last = lexeme(lexemes, place + used + 1);
            used += 2;
            digits = digits(lexemes, place + used);
            used += 3 * digits.size();
        }
        IntervalFields fields = fields(field, last);
        List<String> arguments = last.isWord("second") ? digits : List.of();
        if (fields.cuts() && !isWhole(text)) {
            arguments = arguments(List.of(), fields);
        }
        return interval(arguments, fields.read(text), type.length, used);
    }

    private static TypeWords interval(List<String> digits, String text, int constantAt, int length) {
        return new TypeWords("interval", digits, Optional.of(text), constantAt, length);
    }

    /** The number of {@code (3)}, if that follows. */
    private static List<String> digits(List<Lexeme> lexemes, int place) {
        boolean some = lexeme(lexemes, place).isSymbol("(")
                && lexeme(lexemes, place + 1).kind() == Kind.INTEGER
                && lexeme(lexemes, place + 2).isSymbol(")");
        return some ? List.of(lexeme(lexemes, place + 1).text()) : List.of();
    }

    private static boolean isUnit(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && INTERVAL_UNITS.contains(lexeme.text());
    }

    private static boolean isNumber(String text) {
        return text.strip().matches("[+-]?[0-9]*\\.?[0-9]+");
    }

    /** Whether there is nothing smaller in it than a unit. */
    private static boolean isWhole(String text) {
        return text.strip().matches("[+-]?[0-9]+");
    }

    private static boolean isIntervalField(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && IntervalFields.NAMES.contains(lexeme.text());
    }

    private static Lexeme lexeme(List<Lexeme> lexemes, int place) {
        return lexemes.get(Math.min(place, lexemes.size() - 1));
    }
}
