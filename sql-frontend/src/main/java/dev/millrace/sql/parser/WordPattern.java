package dev.millrace.sql.parser;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;

/**
 * Words at a place of a text: {@code create | source} is the place of SOURCE behind CREATE, {@code *} any token, {@code for/if} one of both, {@code ''} a
 * text in quotes.
 */
record WordPattern(List<String> before, List<String> here) {
    static WordPattern of(String words) {
        String[] sides = words.split("\\|");
        List<String> here = List.of(sides[sides.length - 1].strip().split(" "));
        return new WordPattern(sides.length > 1 ? List.of(sides[0].strip().split(" ")) : List.of(), here);
    }

    /** @param lexemes of the whole text, with the END */
    boolean isAt(List<Lexeme> lexemes, int place) {
        return place >= before.size() && areAt(before, lexemes, place - before.size()) && areAt(here, lexemes, place);
    }

    private static boolean areAt(List<String> words, List<Lexeme> lexemes, int place) {
        for (int i = 0; i < words.size(); i++) {
            if (!isAt(words.get(i), lexemes.get(Math.min(place + i, lexemes.size() - 1)))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAt(String word, Lexeme lexeme) {
        if (word.equals("*")) {
            return lexeme.kind() != Kind.END;
        } else if (word.equals("''")) {
            return lexeme.kind() == Kind.STRING;
        }
        for (String one : word.length() == 1 ? List.of(word) : List.of(word.split("/"))) {
            if (lexeme.isWord(one) || lexeme.isSymbol(one)) {
                return true;
            }
        }
        return false;
    }
}
