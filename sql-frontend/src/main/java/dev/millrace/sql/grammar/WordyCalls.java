package dev.millrace.sql.grammar;

import dev.millrace.sql.grammar.Infix.Level;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlLibraryOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Calls whose arguments are separated by words, as calls with commas:
 *
 * <pre>
 * extract(year FROM t)              extract('year', t)
 * substring(s FROM 2 FOR 3)         substring(s, 2, 3)
 * position(a IN b)                  position(a, b), where a is what is looked for
 * overlay(a PLACING b FROM 1)       overlay(a, b, 1)
 * trim(LEADING 'x' FROM s)          "ltrim from"('x', s)
 * </pre>
 *
 * Whatever stands there with commas is read as such.
 */
final class WordyCalls {
    private final Grammar grammar;
    private final Tokens tokens;

    WordyCalls(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** The call at the place, before whose parenthesis a word stands; empty, at the same place, for other words. */
    Optional<SqlNode> call(String word) {
        return switch (word) {
            case "cast" -> Optional.of(cast(SqlStdOperatorTable.CAST));
            case "try_cast" -> Optional.of(cast(SqlLibraryOperators.TRY_CAST));
            case "extract" -> extract();
            case "substring" -> Optional.of(substring());
            case "position" -> Optional.of(position());
            case "overlay" -> Optional.of(overlay());
            case "trim" -> Optional.of(trim());
            default -> Optional.empty();
        };
    }

    private int open() {
        int place = tokens.place();
        tokens.next();
        tokens.next();
        return place;
    }

    private SqlNode close(String function, int place, List<SqlNode> arguments) {
        tokens.require(")");
        SqlParserPos name = new SqlParserPos(1, tokens.startOf(place) + 1, 1, tokens.startOf(place) + 1);
        return SyntaxNodes.function(SyntaxNodes.name(function, name), tokens.positionFrom(place), arguments);
    }

    private SqlNode expression() {
        return grammar.expressions.expression();
    }

    private SqlNode cast(SqlOperator operator) {
        int place = open();
        SqlNode value = grammar.expressions.expression();
        tokens.requireWord("as");
        SqlNode type = grammar.types.dataType();
        tokens.require(")");
        return operator.createCall(tokens.positionFrom(place), value, type);
    }

    private Optional<SqlNode> extract() {
        Lexeme field = tokens.peekAt(2);
        if (!tokens.peekAt(3).isWord("from") || !field.isName() && field.kind() != Kind.STRING) {
            return Optional.empty();
        }
        int place = open();
        List<SqlNode> arguments = new ArrayList<>();
        arguments.add(SyntaxNodes.text(field.text(), Tokens.position(tokens.next())));
        tokens.next();
        arguments.add(expression());
        return Optional.of(close("extract", place, arguments));
    }

    private SqlNode substring() {
        int place = open();
        List<SqlNode> arguments = arguments();
        if (arguments.size() == 1 && tokens.accept("similar")) {
            arguments.add(expression());
            tokens.requireWord("escape");
            arguments.add(expression());
        } else if (arguments.size() == 1) {
            Optional<SqlNode> from = Optional.empty();
            Optional<SqlNode> length = Optional.empty();
            SqlParserPos start = Tokens.position(tokens.peek());
            boolean more = true;
            while (more) {
                if (from.isEmpty() && tokens.accept("from")) {
                    from = Optional.of(expression());
                } else if (length.isEmpty() && tokens.accept("for")) {
                    length = Optional.of(expression());
                } else {
                    more = false;
                }
            }
            if (length.isPresent() && from.isEmpty()) { // it begins with the first character
                from = Optional.of(SqlLiteral.createExactNumeric("1", start));
            }
            from.ifPresent(arguments::add);
            length.ifPresent(arguments::add);
        }
        return close("substring", place, arguments);
    }

    private List<SqlNode> arguments() {
        List<SqlNode> arguments = new ArrayList<>();
        if (!tokens.peek().isSymbol(")")) {
            do {
                arguments.add(expression());
            } while (tokens.acceptComma());
        }
        return arguments;
    }

    private SqlNode position() {
        int place = open();
        List<SqlNode> arguments = new ArrayList<>();
        arguments.add(grammar.expressions.operation(Level.OTHER));
        if (tokens.accept("in")) {
            arguments.add(expression());
        } else if (tokens.acceptComma()) {
            arguments.addAll(arguments());
        }
        return close("position", place, arguments);
    }

    private SqlNode overlay() {
        int place = open();
        List<SqlNode> arguments = arguments();
        if (arguments.size() == 1 && tokens.accept("placing")) {
            arguments.add(expression());
            tokens.requireWord("from");
            arguments.add(expression());
            if (tokens.accept("for")) {
                arguments.add(expression());
            }
        }
        return close("overlay", place, arguments);
    }

    private SqlNode trim() {
        int place = open();
        String function = "btrim";
        if (tokens.accept("leading")) {
            function = "ltrim";
        } else if (tokens.accept("trailing")) {
            function = "rtrim";
        } else if (tokens.peek().isWord("both")) {
            tokens.next();
        }
        if (tokens.accept("from")) {
            return close(function, place, arguments());
        }
        List<SqlNode> arguments = arguments();
        if (arguments.size() == 1 && tokens.accept("from")) {
            arguments.add(expression());
            function = function + " from";
        }
        return close(function, place, arguments);
    }
}
