package dev.millrace.sql.grammar;

import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Stars, and DuckDB's as calls that the binder unfolds: {@code t.* EXCLUDE (a)} as {@code "star columns"('t', "star
 * exclude"('a'))}, {@code COLUMNS('x.*')} as {@code "star columns"('', "star matching"('x.*'))}.
 */
final class StarParser {
    private static final Set<String> MODIFIERS = Set.of("exclude", "replace", "rename");
    private static final Set<String> QUERIES = Set.of("select", "values", "with", "table", "from");

    private final Grammar grammar;
    private final Tokens tokens;

    StarParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** The star at the place, with what changes it. */
    SqlNode star() {
        return modified(SqlIdentifier.star(Tokens.position(tokens.next())));
    }

    /** A star that was read, with what changes it. */
    SqlNode modified(SqlIdentifier star) {
        if (!isModified()) {
            return star;
        }
        List<String> names = star.names;
        String qualifier = names.size() > 1 ? names.get(names.size() - 2) : "";
        SqlParserPos position = star.getParserPosition();
        List<SqlNode> parts = new ArrayList<>();
        parts.add(SyntaxNodes.text(qualifier, position));
        while (isModified()) {
            parts.add(modifier());
        }
        return starColumns(parts, position);
    }

    private static SqlNode starColumns(List<SqlNode> parts, SqlParserPos position) {
        return SyntaxNodes.function(SyntaxNodes.name(FromClauses.STAR_COLUMNS, position), position, parts);
    }

    // ---- modifiers -------------------------------------------------------------------------------------------------

    private boolean isModified() {
        Lexeme word = tokens.peek();
        Lexeme next = tokens.peekAt(1);
        if (word.kind() != Kind.WORD) {
            return false;
        }
        return MODIFIERS.contains(word.text()) && (next.isSymbol("(") || next.isName() && !next.isWord("from"))
                || isLike()
                || isExcept(next);
    }

    /** {@code LIKE 'a%'}, {@code NOT ILIKE 'a%'} behind a star. */
    private boolean isLike() {
        int like = tokens.peek().isWord("not") ? 1 : 0;
        return (tokens.peekAt(like).isWord("like") || tokens.peekAt(like).isWord("ilike"))
                && tokens.peekAt(like + 1).kind() == Kind.STRING;
    }

    /** BigQuery's EXCEPT behind a star: names in parentheses, where a set operation has a query. */
    private boolean isExcept(Lexeme next) {
        Lexeme name = tokens.peekAt(2);
        return tokens.peek().isWord("except")
                && next.isSymbol("(")
                && name.isName()
                && !(name.kind() == Kind.WORD && QUERIES.contains(name.text()));
    }

    private SqlNode modifier() {
        if (isLike()) {
            return like();
        }
        Lexeme word = tokens.next();
        String name = "star " + (word.isWord("except") ? "exclude" : word.text());
        List<SqlNode> parts = new ArrayList<>();
        if (tokens.acceptSymbol("(")) {
            do {
                part(word, parts);
            } while (tokens.acceptComma());
            tokens.require(")");
        } else {
            part(word, parts);
        }
        return SyntaxNodes.function(SyntaxNodes.name(name, Tokens.position(word)), Tokens.position(word), parts);
    }

    /** A name as a constant, a qualified one as it is; {@code e AS n} as e and a constant. */
    private void part(Lexeme modifier, List<SqlNode> parts) {
        if (modifier.isWord("exclude") || modifier.isWord("except")) {
            SqlIdentifier name = grammar.primaries.path(tokens.label());
            parts.add(name.isSimple() ? SyntaxNodes.text(name.getSimple(), name.getParserPosition()) : name);
            return;
        }
        parts.add(grammar.expressions.expression());
        tokens.requireWord("as");
        SqlIdentifier name = tokens.label();
        parts.add(SyntaxNodes.text(name.getSimple(), name.getParserPosition()));
    }

    private SqlNode like() {
        boolean not = tokens.accept("not");
        Lexeme like = tokens.next();
        Lexeme pattern = tokens.next();
        return SyntaxNodes.function(
                not ? "star unlike" : "star matching",
                Tokens.position(like),
                SyntaxNodes.text(pattern(pattern.text(), like.isWord("ilike")), Tokens.position(pattern)));
    }

    /** A LIKE pattern as a regular expression over names. */
    private static String pattern(String like, boolean anyCase) {
        StringBuilder pattern = new StringBuilder(anyCase ? "(?is)^" : "(?s)^");
        for (char c : like.toCharArray()) {
            pattern.append(c == '%' ? ".*" : c == '_' ? "." : Pattern.quote(String.valueOf(c)));
        }
        return pattern.append('$').toString();
    }

    // ---- COLUMNS ---------------------------------------------------------------------------------------------------

    /** {@code COLUMNS(*)}, of a pattern or of a list of names; empty, at the same place, for a call of another function. */
    Optional<SqlNode> columns() {
        SqlParserPos position = Tokens.position(tokens.peek());
        Lexeme first = tokens.peekAt(2);
        boolean listed =
                first.isSymbol("[") || first.isWord("array") && tokens.peekAt(3).isSymbol("[");
        boolean star = first.isSymbol("*")
                || first.isName()
                        && tokens.peekAt(3).isSymbol(".")
                        && tokens.peekAt(4).isSymbol("*");
        boolean matching = first.kind() == Kind.STRING && tokens.peekAt(3).isSymbol(")");
        if (!listed && !star && !matching) {
            return Optional.empty();
        }
        tokens.next();
        tokens.next();
        SqlNode columns;
        if (star) {
            SqlIdentifier all = first.isSymbol("*")
                    ? SqlIdentifier.star(Tokens.position(tokens.next()))
                    : grammar.primaries.path(tokens.label());
            SqlNode modified = modified(all);
            String qualifier = all.names.size() > 1 ? all.names.get(all.names.size() - 2) : "";
            columns = modified instanceof SqlCall
                    ? modified
                    : starColumns(List.of(SyntaxNodes.text(qualifier, position)), position);
        } else {

            List<SqlNode> names = listed
                    ? ((SqlCall) grammar.primaries.operand()).getOperandList()
                    : List.of(grammar.primaries.operand());
            SqlNode chosen = SyntaxNodes.function(
                    SyntaxNodes.name(listed ? "star only" : "star matching", position), position, names);
            columns = starColumns(List.of(SyntaxNodes.text("", position), chosen), position);
        }
        tokens.require(")");
        return Optional.of(columns);
    }

    /** {@code *} of all but the named columns. */
    static SqlNode without(String modifier, List<String> names, SqlParserPos position) {
        List<SqlNode> texts = new ArrayList<>();
        names.forEach(name -> texts.add(SyntaxNodes.text(name, position)));
        SqlNode exclude = SyntaxNodes.function(SyntaxNodes.name(modifier, position), position, texts);
        return starColumns(List.of(SyntaxNodes.text("", position), exclude), position);
    }
}
