package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import java.util.function.Supplier;
import org.apache.calcite.sql.SqlNode;

/**
 * The grammar of queries, expressions and types, by recursive descent over the tokens of one text. Each method reads from the
 * tokens' place up to the first token that cannot belong to what it reads. One thread.
 *
 * <p>Which part reads what:
 *
 * <pre>
 * QueryParser        WITH, UNION, VALUES, ORDER BY, LIMIT     ExpressionParser  operators, by the precedence that Infix has
 *   SelectParser     SELECT and its clauses                     PrimaryParser   constants, names, what is in brackets
 *     StarParser     * EXCLUDE (a), COLUMNS(..)                   CallParser    functions and their arguments
 *     FromParser     items of FROM and joins                      WordyCalls    EXTRACT(a FROM b), CAST(a AS b)
 *       TableCallParser  functions there                          WindowParser  OVER (..), WINDOW, orders
 *       PivotParser  PIVOT, UNPIVOT                               ListParser    lists, lambdas, structs, subscripts
 *       MatchParser  MATCH_RECOGNIZE                            TypeParser      types, and constants with them
 * </pre>
 */
public final class Grammar {
    /** Far more than anybody writes; a thread of the server has stack for more. */
    static final int DEEPEST = 5_000;

    /** How many tokens may be read again for what is written once and stands for several things, as in PIVOT. */
    private static final int MOST_READ_AGAIN = 1_000_000;

    final Tokens tokens;
    final TypeParser types;
    final QueryParser queries;
    final SelectParser selects;
    final StarParser stars;
    final FromParser froms;
    final PivotParser pivots;
    final MatchParser matches;
    final ExpressionParser expressions;
    final PrimaryParser primaries;
    final CallParser calls;
    final WordyCalls wordy;
    final WindowParser windows;
    final ListParser lists;
    private int depth;
    private int readAgain;

    public Grammar(Tokens tokens) {
        Infix.prepare();
        this.tokens = tokens;
        types = new TypeParser(tokens);
        queries = new QueryParser(this);
        selects = new SelectParser(this);
        stars = new StarParser(this);
        froms = new FromParser(this);
        pivots = new PivotParser(this);
        matches = new MatchParser(this);
        expressions = new ExpressionParser(this);
        primaries = new PrimaryParser(this);
        calls = new CallParser(this);
        wordy = new WordyCalls(this);
        windows = new WindowParser(this);
        lists = new ListParser(this);
    }

    // ---- what other statements read --------------------------------------------------------------------------------

    /** SELECT, VALUES, TABLE, FROM, PIVOT, WITH, with ORDER BY and LIMIT. */
    public SqlNode query() {
        return guarded(queries::query);
    }

    public SqlNode expression() {
        return guarded(expressions::expression);
    }

    /** The subscripts behind a name, with it. */
    public SqlNode subscripts(SqlNode name) {
        return guarded(() -> {
            SqlNode part = name;
            for (int count = 0; tokens.peek().isSymbol("["); count++) {
                part = lists.subscript(part);
                if (count >= DEEPEST) {
                    throw tokens.unexpected();
                }
            }
            return part;
        });
    }

    /** An item of a SELECT list, or of RETURNING: an expression with its name, or a star. */
    public SqlNode item() {
        return guarded(selects::item);
    }

    /** Relations and joins, as they stand behind FROM. */
    public SqlNode fromClause() {
        return guarded(froms::clause);
    }

    public TypeSpec type() {
        return types.type();
    }

    private <T> T guarded(Supplier<T> production) {
        depth = 0;
        Lexeme first = tokens.peek();
        try {
            return production.get();
        } catch (StackOverflowError e) { // of a program's thread, which may have little of it
            throw tooDeep(first);
        }
    }

    // ---- what bounds the work --------------------------------------------------------------------------------------

    /** Called where a production may hold itself, with {@link #leave} at its end. */
    void enter() {
        if (++depth > DEEPEST) {
            throw tooDeep(tokens.peek());
        }
    }

    void leave() {
        depth--;
    }

    private static MillraceException tooDeep(Lexeme place) {
        return MillraceException.user(SqlState.STATEMENT_TOO_COMPLEX, "the statement is nested too deeply")
                .at(place.start() + 1);
    }

    /** What a production reads from a place on; the tokens then are where they were. */
    <T> T again(int place, Supplier<T> production) {
        int here = tokens.place();
        tokens.backTo(place);
        T result = production.get();
        readAgain += tokens.place() - place;
        if (readAgain > MOST_READ_AGAIN) {
            throw MillraceException.user(
                            SqlState.STATEMENT_TOO_COMPLEX, "the statement stands for one that is too long")
                    .at(tokens.startOf(place) + 1);
        }
        tokens.backTo(here);
        return result;
    }
}
