package dev.millrace.sql.parser.feed;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Set;

/** Which words of a query are keywords to the grammar, judged by the tokens around them. */
final class KeywordRules {
    private static final Set<String> ALWAYS_KEYWORDS = Set.of("""
            all and any as asc asymmetric between by case cross default desc distinct else end except false for from full
            group having ilike in inner intersect is join lateral like limit natural not null offset on or order outer
            select similar some symmetric table then to true union using when where window with""".split("\\s+"));

    private static final Set<String> MATCH_RECOGNIZE_WORDS = Set.of("""
            partition measures one per match after skip next past last first pattern within subset define row rows final
            running permute""".split("\\s+"));

    private KeywordRules() {}

    /**
     * Whether the neighbours make this word a keyword rather than a name.
     *
     * @param beforePrevious the token before {@code previous}
     */
    static boolean isKeyword(
            String word, Lexeme beforePrevious, Lexeme previous, Lexeme next, boolean inMatchRecognize) {
        if (ALWAYS_KEYWORDS.contains(word)) {
            return true;
        }
        if (inMatchRecognize && MATCH_RECOGNIZE_WORDS.contains(word)) {
            return true;
        }
        return switch (word) {
            case "left", "right" ->
                next.isWord("join")
                        || next.isWord("outer")
                        || next.isWord("asof")
                        || next.isWord("semi")
                        || next.isWord("anti");
            case "semi", "anti" -> next.isWord("join") && endsOperand(previous);
            case "union", "intersect", "except" -> true;
            case "values" -> next.isSymbol("(");
            case "fetch" -> next.isWord("first") || next.isWord("next");
            case "asof" ->
                (next.isWord("join") || next.isWord("left") || next.isWord("inner")) && endsOperand(previous);
            case "array" -> next.isSymbol("[");
            case "over" -> previous.isSymbol(")") && next.isName();
            case "filter" -> previous.isSymbol(")") && next.isSymbol("(");
            case "within" -> next.isWord("group");
            case "partition" -> next.isWord("by");
            case "rows", "range" -> isFrameBound(next) || isCount(previous) && (isOnly(next) || ends(next));
            case "row" -> previous.isWord("current") || isCount(previous) && (isOnly(next) || ends(next));
            case "unbounded" -> next.isWord("preceding") || next.isWord("following");
            case "preceding", "following" -> next.isSymbol(")") || next.isWord("and") || next.isWord("exclude");
            case "current" -> next.isWord("row");
            case "exclude" ->
                next.isWord("current") || next.isWord("no") || next.isWord("group") || next.isWord("ties");
            case "no", "ties" -> previous.isWord("exclude");
            case "others" -> previous.isWord("no") && beforePrevious.isWord("exclude");
            case "qualify" -> endsOperand(previous) && beginsOperand(next);
            case "nulls" ->
                next.isWord("first") || next.isWord("last") || previous.isWord("ignore") || previous.isWord("respect");
            case "ignore", "respect" -> next.isWord("nulls");
            case "first", "last", "next" -> previous.isWord("nulls") || previous.isWord("fetch");
            case "only" -> previous.isWord("row") || previous.isWord("rows");
            case "grouping" -> next.isWord("sets");
            case "sets" -> previous.isWord("grouping");
            case "system_time" -> previous.isWord("for");
            case "of" -> previous.isWord("as") && beforePrevious.isWord("system_time");
            case "escape" -> next.kind() == Kind.STRING || next.kind() == Kind.PARAMETER;
            case "unknown" -> previous.isWord("is") || previous.isWord("not") && beforePrevious.isWord("is");
            case "recursive", "ordinality" -> previous.isWord("with");
            case "tablesample" -> next.isWord("bernoulli") || next.isWord("system");
            case "bernoulli", "system" -> previous.isWord("tablesample");
            default -> false;
        };
    }

    /** FETCH .. ROWS ONLY or WITH TIES. */
    private static boolean isOnly(Lexeme lexeme) {
        return lexeme.isWord("only") || lexeme.isWord("with");
    }

    static boolean isFrameBound(Lexeme lexeme) {
        return lexeme.isWord("between")
                || lexeme.isWord("unbounded")
                || lexeme.isWord("current")
                || lexeme.isWord("interval")
                || lexeme.kind() == Kind.INTEGER
                || lexeme.kind() == Kind.STRING
                || lexeme.kind() == Kind.PARAMETER;
    }

    private static boolean isCount(Lexeme lexeme) {
        return lexeme.kind() == Kind.INTEGER
                || lexeme.kind() == Kind.PARAMETER
                || lexeme.isWord("first")
                || lexeme.isWord("next");
    }

    /** Whether a condition may follow: an alias or a column called so is followed by a clause or a comma. */
    private static boolean beginsOperand(Lexeme lexeme) {
        return lexeme.isSymbol("(")
                || lexeme.isSymbol("-")
                || lexeme.isWord("not")
                || lexeme.isWord("case")
                || lexeme.kind() == Kind.INTEGER
                || lexeme.isName() && !ALWAYS_KEYWORDS.contains(lexeme.text());
    }

    private static boolean endsOperand(Lexeme lexeme) {
        return lexeme.isSymbol(")")
                || lexeme.kind() == Kind.INTEGER
                || lexeme.kind() == Kind.DECIMAL
                || lexeme.kind() == Kind.STRING
                || lexeme.isWord("null")
                || lexeme.isWord("true")
                || lexeme.isWord("false")
                || lexeme.isWord("end")
                || lexeme.isName() && !ALWAYS_KEYWORDS.contains(lexeme.text());
    }

    private static boolean ends(Lexeme lexeme) {
        return lexeme.kind() == Kind.END || lexeme.isSymbol(")") || lexeme.isWord("emit") || lexeme.isWord("fetch");
    }
}
