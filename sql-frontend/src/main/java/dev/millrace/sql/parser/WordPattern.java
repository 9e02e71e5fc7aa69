package dev.millrace.sql.parser;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Arrays;
import java.util.List;

/**
 * Words at a place of a text: {@code create | source} is the place of SOURCE behind CREATE, {@code *} any token, {@code for/if} one of both, {@code ''} a
 * text in quotes.
 */
record WordPattern(List<Place> before, List<Place> here) {
    static WordPattern of(String words) {
        String[] sides = words.split("\\|");
        return new WordPattern(sides.length > 1 ? places(sides[0]) : List.of(), places(sides[sides.length - 1]));
    }

    private static List<Place> places(String words) {
        return Arrays.stream(words.strip().split(" ")).map(Place::of).toList();
    }

    /** What one token may be. */
    private record Place(boolean isAny, boolean isText, List<String> words) {
        static Place of(String word) {
            return new Place(
                    word.equals("*"), word.equals("''"), word.length() == 1 ? List.of(word) : List.of(word.split("/")));
        }

        boolean is(Lexeme lexeme) {
            if (isAny) {
                return lexeme.kind() != Kind.END;
            } else if (isText) {
                return lexeme.kind() == Kind.STRING;
            }
            for (String word : words) {
                if (lexeme.isWord(word) || lexeme.isSymbol(word)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** @param lexemes of the whole text, with the END */
    boolean isAt(List<Lexeme> lexemes, int place) {
        return place >= before.size() && areAt(before, lexemes, place - before.size()) && areAt(here, lexemes, place);
    }

    private static boolean areAt(List<Place> places, List<Lexeme> lexemes, int place) {
        for (int i = 0; i < places.size(); i++) {
            if (!places.get(i).is(lexemes.get(Math.min(place + i, lexemes.size() - 1)))) {
                return false;
            }
        }
        return true;
    }
}
