package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The query of a template, and the one query that answers all queries of it: each row meets the parameters, a table, once, and is given the name of
 * each query that wants it.
 *
 * <pre>
 *   SELECT ts, temp FROM readings WHERE device = dev AND temp > lim
 *
 *   SELECT "$t"."$query" AS query, ts, temp
 *   FROM readings JOIN over_limit FOR SYSTEM_TIME AS OF proctime() AS "$t" ("$query", "$dev", "$lim") ON TRUE
 *   WHERE device = "$t"."$dev" AND temp > "$t"."$lim"
 * </pre>
 *
 * Groups are of a query and its parameters besides. What would mix rows of several queries is refused. Immutable.
 */
public final class TemplateText {
    /** The first column of a template and of its answers: which query it is. */
    public static final String QUERY = "query";

    private static final int MOST_DIGITS = 4; // of a column's number
    private static final String TABLE = "\"$t\"";
    private static final Set<String> BEHIND_FIRST =
            Set.of("join", "inner", "left", "cross", "natural", "asof", "right", "full", "tablesample");
    private static final Set<String> BEHIND_FROM = Set.of("where", "group", "having", "window", "emit");
    private static final Set<String> REFUSED =
            Set.of("union", "intersect", "except", "order", "limit", "offset", "fetch", "window", "qualify");
    private static final Set<String> GROUPINGS = Set.of("rollup", "cube", "grouping", "all", "distinct");

    private final String template;
    private final List<String> parameters;
    private final String text;
    private final List<Lexeme> tokens;
    private final int first; // token of the SELECT list
    private final int from; // token behind FROM
    private final int firstEnd; // token behind the first relation there
    private final int fromEnd; // token behind what FROM says
    private final int groups; // token behind GROUP BY; -1 where there is none

    /**
     * @param text the query, in which parameters stand as columns do
     * @throws MillraceException 0A000 where the queries of such a template cannot be answered together
     */
    public TemplateText(String template, List<String> parameters, String text) {
        this.template = template;
        this.parameters = List.copyOf(parameters);
        this.text = text;
        this.tokens = Lexer.tokens(text);
        if (!tokens.get(0).isWord("select")) {
            throw refused("a query that begins with " + written(tokens.get(0)))
                    .withHint("SELECT .. FROM .. WHERE .. [GROUP BY ..]; a view may hold the rest, and be read here");
        }
        this.first = tokens.get(1).isWord("distinct") || tokens.get(1).isWord("all") ? 2 : 1;
        int foundFrom = -1;
        int foundEnd = -1;
        int foundGroups = -1;
        int depth = 0;
        for (int i = 1; i < tokens.size(); i++) {
            Lexeme token = tokens.get(i);
            depth += token.isSymbol("(") ? 1 : token.isSymbol(")") ? -1 : 0;
            boolean isColumn = tokens.get(i - 1).isSymbol(".");
            if (token.kind() != Lexeme.Kind.WORD || isColumn) {
                continue;
            }
            boolean overRows = token.isWord("over") && tokens.get(i - 1).isSymbol(")");
            if (overRows || depth == 0 && REFUSED.contains(token.text()) && foundFrom >= 0) {
                throw refused(written(token) + " in a template");
            }
            if (depth > 0) {
                if (token.isWord("select") && foundEnd >= 0) {
                    throw refused("a sub-query behind FROM in a template");
                }
            } else if (token.isWord("from") && foundFrom < 0) {
                foundFrom = i + 1;
            } else if (foundFrom >= 0 && foundEnd < 0 && BEHIND_FROM.contains(token.text())) {
                foundEnd = i;
            }
            if (depth == 0 && token.isWord("group") && tokens.get(i + 1).isWord("by")) {
                foundGroups = i + 2;
                if (GROUPINGS.contains(tokens.get(foundGroups).text())) {
                    throw refused("GROUP BY " + written(tokens.get(foundGroups)) + " in a template");
                }
            }
        }
        if (foundFrom < 0) {
            throw refused("a query without FROM in a template");
        }
        if (tokens.get(first).isWord("on")) {
            throw refused("DISTINCT ON in a template");
        }
        this.from = foundFrom;
        this.fromEnd = foundEnd < 0 ? tokens.size() - 1 : foundEnd;
        this.groups = foundGroups;
        this.firstEnd = firstEnd();
        requireNoParameter(from, firstEnd);
    }

    private int firstEnd() {
        int depth = 0;
        int end = fromEnd;
        for (int i = from; i < fromEnd; i++) {
            Lexeme token = tokens.get(i);
            depth += token.isSymbol("(") ? 1 : token.isSymbol(")") ? -1 : 0;
            boolean isWord = depth == 0 && token.kind() == Lexeme.Kind.WORD;
            if (isWord && (token.isWord("right") || token.isWord("full"))) {
                throw refused(written(token) + " JOIN in a template");
            }
            boolean ends = depth == 0 && token.isSymbol(",") || isWord && BEHIND_FIRST.contains(token.text());
            end = ends && end == fromEnd ? i : end;
        }
        return end;
    }

    private MillraceException refused(String what) {
        return MillraceException.notAvailableYet(what)
                .withHint("template \"" + template
                        + "\" may filter, compute and group rows: SELECT .. FROM .. WHERE .. GROUP BY ..");
    }

    private void requireNoParameter(int begin, int end) {
        for (int i = begin; i < end; i++) {
            if (isParameter(i)) {
                throw refused("parameter \"" + tokens.get(i).text() + "\" in what a template reads")
                        .withHint("name it in WHERE");
            }
        }
    }

    private static String written(Lexeme token) {
        return token.kind() == Lexeme.Kind.END ? "nothing" : token.text().toUpperCase(Locale.ROOT);
    }

    /** Whether it has a GROUP BY. */
    public boolean groups() {
        return groups >= 0;
    }

    /** A query for the columns of what the template reads, in which no parameter has a value. */
    public String readText() {
        StringBuilder read = new StringBuilder("SELECT * FROM ");
        for (int i = from; i < fromEnd; i++) {
            String written = text.substring(tokens.get(i).start(), tokens.get(i).end());
            read.append(i > from && tokens.get(i - 1).end() == tokens.get(i).start() ? "" : " ")
                    .append(i >= firstEnd && isParameter(i) ? "NULL" : written);
        }
        return read.toString();
    }

    /**
     * The query that answers all.
     *
     * @param read columns of what is read, by {@link #readText}
     * @throws MillraceException 42702 if one has the name of a parameter
     */
    public String answersText(List<String> read) {
        for (String parameter : parameters) {
            if (read.contains(parameter)) {
                throw MillraceException.user(
                                SqlState.AMBIGUOUS_COLUMN,
                                "parameter \"" + parameter + "\" of template \"" + template
                                        + "\" has the name of a column that is read")
                        .withHint("give it another name");
            }
        }
        StringBuilder all = new StringBuilder();
        int copied = 0;
        for (int i = 0; i < tokens.size(); i++) {
            Optional<String> before = insertedBefore(i);
            Optional<String> instead = replaced(i, read);
            if (before.isPresent() || instead.isPresent()) {
                all.append(text, copied, tokens.get(i).start());
                before.ifPresent(all::append);
                instead.ifPresent(all::append);
                copied = instead.isPresent()
                        ? tokens.get(i).end()
                        : tokens.get(i).start();
            }
        }
        return all.append(text, Math.min(copied, text.length()), text.length())
                .toString()
                .strip();
    }

    private Optional<String> insertedBefore(int token) {
        if (token == first) {
            return Optional.of(TABLE + ".\"$" + QUERY + "\" AS " + QUERY + ", ");
        } else if (token == firstEnd) {
            return Optional.of("\nJOIN " + RelationNames.quoted(template) + " FOR SYSTEM_TIME AS OF proctime() AS "
                    + TABLE
                    + " (" + inner(QUERY)
                    + parameters.stream().map(name -> ", " + inner(name)).collect(Collectors.joining())
                    + ") ON TRUE\n"); // on lines of its own: a comment may be before it
        } else if (token == groups) {
            return Optional.of(place(QUERY) + ", "
                    + parameters.stream().map(name -> place(name) + ", ").collect(Collectors.joining()));
        }
        return Optional.empty();
    }

    private Optional<String> replaced(int token, List<String> read) {
        if (isParameter(token)) {
            return Optional.of(place(tokens.get(token).text()));
        } else if (isPlace(token)) { // of a column, behind the query's
            return Optional.of(
                    Integer.toString(Integer.parseInt(tokens.get(token).text()) + 1));
        } else if (isStar(token)) {
            List<String> columns = new ArrayList<>();
            read.forEach(column -> columns.add(Identifiers.quote(column)));
            return Optional.of(String.join(", ", columns));
        }
        return Optional.empty();
    }

    private boolean isParameter(int token) {
        Lexeme name = tokens.get(token);
        return name.isName()
                && parameters.contains(name.text())
                && !tokens.get(token + 1).isSymbol(".")
                && !tokens.get(token + 1).isSymbol("(")
                && (token == 0
                        || !tokens.get(token - 1).isSymbol(".")
                                && !tokens.get(token - 1).isWord("as"));
    }

    /** Whether this is a number in GROUP BY that stands for a column of the answer. */
    private boolean isPlace(int token) {
        Lexeme number = tokens.get(token);
        if (groups < 0
                || token < groups
                || number.kind() != Lexeme.Kind.INTEGER
                || number.text().length() > MOST_DIGITS) {
            return false;
        }
        Lexeme before = tokens.get(token - 1);
        Lexeme after = tokens.get(token + 1);
        boolean begins = token == groups || before.isSymbol(",") && depth(token) == 0;
        boolean ends = after.isSymbol(",")
                || after.kind() == Lexeme.Kind.END
                || after.isWord("having")
                || after.isWord("emit");
        return begins && ends && !isBehindGroups(token);
    }

    /** How many parentheses are open, from GROUP BY on. */
    private int depth(int token) {
        int depth = 0;
        for (int i = groups; i < token; i++) {
            depth += tokens.get(i).isSymbol("(") ? 1 : tokens.get(i).isSymbol(")") ? -1 : 0;
        }
        return depth;
    }

    private boolean isBehindGroups(int token) {
        for (int i = groups; i < token; i++) {
            if (tokens.get(i).isWord("having") || tokens.get(i).isWord("emit")) {
                return true;
            }
        }
        return false;
    }

    private boolean isStar(int token) {
        return token >= first
                && token < from
                && tokens.get(token).isSymbol("*")
                && (token == first || tokens.get(token - 1).isSymbol(","))
                && (tokens.get(token + 1).isSymbol(",") || tokens.get(token + 1).isWord("from"));
    }

    private static String place(String name) {
        return TABLE + "." + inner(name);
    }

    private static String inner(String name) {
        return Identifiers.quote("$" + name);
    }
}
