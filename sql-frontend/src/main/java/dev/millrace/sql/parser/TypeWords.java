package dev.millrace.sql.parser;

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

    private static final Set<String> INTERVAL_FIELDS = Set.of("year", "month", "day", "hour", "minute", "second");

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
                            ? interval(next.text(), lexemes, place)
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

    /** {@code INTERVAL '...'} with the fields that may follow, put into its text. */
    private static TypeWords interval(String text, List<Lexeme> lexemes, int place) {
        Lexeme field = lexeme(lexemes, place + 2);
        if (isNumber(text) && isUnit(field)) { // Flink's INTERVAL '10' MINUTES; behind '10 minutes' it is an alias
            return new TypeWords("interval", List.of(), Optional.of(text + " " + field.text()), 1, 3);
        }
        if (!isIntervalField(field)) {
            return new TypeWords("interval", List.of(), Optional.of(text), 1, 2);
        }
        int used = lexeme(lexemes, place + 3).isSymbol("(") ? 6 : 3;
        Lexeme last = field;
        if (lexeme(lexemes, place + used).isWord("to") && isIntervalField(lexeme(lexemes, place + used + 1))) {
            last = lexeme(lexemes, place + used + 1);
            used += lexeme(lexemes, place + used + 2).isSymbol("(") ? 5 : 2;
        }
        return new TypeWords(
                "interval", List.of(), Optional.of(intervalText(text, field.text(), last.text())), 1, used);
    }

    private static boolean isUnit(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && INTERVAL_UNITS.contains(lexeme.text());
    }

    private static boolean isNumber(String text) {
        return text.strip().matches("[+-]?[0-9]*\\.?[0-9]+");
    }

    private static boolean isIntervalField(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && INTERVAL_FIELDS.contains(lexeme.text());
    }

    /** What INTERVAL '...' first TO last means, as text that needs no fields. */
    private static String intervalText(String value, String field, String lastField) {
        if (isNumber(value)) {
            return value + " " + lastField;
        }
        if (field.equals("day") && lastField.equals("hour") && value.strip().matches("[+-]?[0-9]+\\s+[+-]?[0-9]+")) {
            return value.strip().replaceFirst("\\s+", " days ") + " hours";
        }
        boolean minuteToSecond = field.equals("minute") && lastField.equals("second");
        return minuteToSecond && value.indexOf(':') == value.lastIndexOf(':') ? "00:" + value.strip() : value;
    }

    private static Lexeme lexeme(List<Lexeme> lexemes, int place) {
        return lexemes.get(Math.min(place, lexemes.size() - 1));
    }
}
