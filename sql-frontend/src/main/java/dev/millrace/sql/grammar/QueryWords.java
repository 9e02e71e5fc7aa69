package dev.millrace.sql.grammar;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Set;

/**
 * Which words are names where: few are reserved, and most keywords mean something in one place only. Pure functions of a
 * token and those right behind it.
 */
final class QueryWords {
    /** Words that are no name anywhere in a query unless quoted. */
    private static final Set<String> RESERVED = Set.of("""
            all and any as asc asymmetric between case cross default desc distinct else emit end except false for from full
            group having ilike in inner intersect into is isnull join lateral like limit natural not notnull null offset on or
            order outer returning select similar some symmetric table then to true union using when where window
            with""".split("\\s+"));

    private static final Set<String> VALUE_FUNCTIONS = Set.of(
            "current_timestamp",
            "current_date",
            "current_time",
            "localtime",
            "localtimestamp",
            "current_user",
            "session_user",
            "current_role",
            "current_catalog",
            "current_schema");

    private static final Set<String> PIVOTS = Set.of("pivot", "unpivot", "pivot_wider", "pivot_longer");

    private QueryWords() {}

    /** Whether a token may be a name by itself. */
    static boolean isName(Lexeme lexeme) {
        return lexeme.kind() == Kind.QUOTED_NAME || lexeme.kind() == Kind.WORD && !RESERVED.contains(lexeme.text());
    }

    /** Whether a word is a function that is called without parentheses. */
    static boolean isValueFunction(String word) {
        return VALUE_FUNCTIONS.contains(word);
    }

    /** Whether a query begins here. */
    static boolean beginsQuery(Tokens tokens) {
        Lexeme first = tokens.peek();
        if (first.kind() != Kind.WORD) {
            return false;
        }
        return switch (first.text()) {
            case "select", "table", "with", "from" -> true;
            case "values" -> tokens.peekAt(1).isSymbol("(");
            default -> beginsPivot(tokens);
        };
    }

    /** Whether a PIVOT or UNPIVOT stands here that is a query of its own. */
    static boolean beginsPivot(Tokens tokens) {
        return tokens.peek().kind() == Kind.WORD
                && PIVOTS.contains(tokens.peek().text())
                && (tokens.peekAt(1).isSymbol("(") || isName(tokens.peekAt(1)));
    }

    /** Whether a query goes on here, behind one of its operands. */
    static boolean continuesQuery(Tokens tokens) {
        Lexeme next = tokens.peek();
        return next.kind() == Kind.WORD
                && switch (next.text()) {
                    case "union", "intersect", "except", "order", "limit", "offset" -> true;
                    case "fetch" -> isFetch(tokens);
                    default -> false;
                };
    }

    static boolean isFetch(Tokens tokens) {
        return tokens.peek().isWord("fetch")
                && (tokens.peekAt(1).isWord("first") || tokens.peekAt(1).isWord("next"));
    }

    static boolean isQualify(Tokens tokens) {
        Lexeme next = tokens.peekAt(1);
        return tokens.peek().isWord("qualify")
                && (next.isSymbol("(")
                        || next.isSymbol("-")
                        || next.isWord("not")
                        || next.isWord("case")
                        || next.kind() == Kind.INTEGER
                        || isName(next));
    }

    /** Whether it begins the next part of a CREATE SCHEMA, behind the query of a view. */
    private static boolean beginsElement(Lexeme lexeme) {
        return lexeme.isWord("create") || lexeme.isWord("grant");
    }

    /** Whether the name of an item of a SELECT list stands here, without AS. */
    static boolean isAlias(Tokens tokens) {
        return isName(tokens.peek()) && !isFetch(tokens) && !isQualify(tokens) && !beginsElement(tokens.peek());
    }

    /** Whether the name of an item of FROM stands here, without AS. */
    static boolean isItemAlias(Tokens tokens) {
        Lexeme lexeme = tokens.peek();
        if (lexeme.kind() != Kind.WORD) {
            return lexeme.kind() == Kind.QUOTED_NAME;
        }
        Lexeme next = tokens.peekAt(1);
        return isAlias(tokens)
                && switch (lexeme.text()) {
                    case "left", "right" ->
                        !next.isWord("join")
                                && !next.isWord("outer")
                                && !next.isWord("asof")
                                && !next.isWord("semi")
                                && !next.isWord("anti");
                    case "semi", "anti", "positional" -> !next.isWord("join");
                    case "asof" -> !next.isWord("join") && !next.isWord("left") && !next.isWord("inner");
                    case "tablesample" -> !next.isWord("bernoulli") && !next.isWord("system");
                    case "match_condition", "match_recognize", "pivot" -> !next.isSymbol("(");
                    case "unpivot" -> !next.isSymbol("(") && !tokens.peekAt(2).isWord("nulls");
                    default -> true;
                };
    }
}
