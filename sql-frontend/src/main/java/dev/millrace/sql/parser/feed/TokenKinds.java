package dev.millrace.sql.parser.feed;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.syntax.Operators;
import dev.millrace.sql.text.Lexeme;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** What the generated grammar numbers keywords and symbols. */
final class TokenKinds {
    private static final Map<String, Integer> KEYWORDS = new HashMap<>();

    static {
        for (int kind = 0; kind < QueryGrammarConstants.tokenImage.length; kind++) {
            String image = QueryGrammarConstants.tokenImage[kind];
            if (image.length() > 2 && image.charAt(0) == '"' && Character.isLetter(image.charAt(1))) {
                KEYWORDS.put(image.substring(1, image.length() - 1).toLowerCase(Locale.ROOT), kind);
            }
        }
    }

    private TokenKinds() {}

    /** The number of a keyword that the grammar has. */
    static int ofKeyword(String word) {
        return KEYWORDS.get(word);
    }

    /**
     * The number of punctuation or of an operator.
     *
     * @throws MillraceException if there is no such operator (42883)
     */
    static int ofSymbol(Lexeme lexeme) {
        return switch (lexeme.text()) {
            case "," -> QueryGrammarConstants.COMMA;
            case "." -> QueryGrammarConstants.DOT;
            case "[" -> QueryGrammarConstants.LBRACKET;
            case "]" -> QueryGrammarConstants.RBRACKET;
            case ":" -> QueryGrammarConstants.COLON;
            case "::" -> QueryGrammarConstants.INFIX_CAST;
            case "=" -> QueryGrammarConstants.EQ;
            case "<>" -> QueryGrammarConstants.NE;
            case "<" -> QueryGrammarConstants.LT;
            case "<=" -> QueryGrammarConstants.LE;
            case ">" -> QueryGrammarConstants.GT;
            case ">=" -> QueryGrammarConstants.GE;
            case "+" -> QueryGrammarConstants.PLUS;
            case "-" -> QueryGrammarConstants.MINUS;
            case "*" -> QueryGrammarConstants.STAR;
            case "/" -> QueryGrammarConstants.SLASH;
            case "=>" -> QueryGrammarConstants.NAMED_ARGUMENT_ASSIGNMENT;
            case ";" -> QueryGrammarConstants.SEMICOLON;
            default -> {
                if (!Operators.isInfix(lexeme.text())) {
                    throw MillraceException.user(
                                    SqlState.UNDEFINED_FUNCTION, "operator does not exist: " + lexeme.text())
                            .at(lexeme.start() + 1);
                }
                yield QueryGrammarConstants.OTHER_OPERATOR;
            }
        };
    }
}
