package dev.millrace.sql;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.error.MillraceException;
import dev.millrace.sql.bind.StatementBinder;
import dev.millrace.sql.bind.change.LiteralBinder;
import dev.millrace.sql.bind.type.ParameterTypes;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.parser.LiteralScanner;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.sql.statement.RowRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.PlainNumeric;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * From SQL text to analysed statements. Safe on any thread. What was parsed lately is remembered, by its text.
 *
 * <p>All errors are {@link dev.millrace.error.MillraceException}s whose position counts characters from 1 in the text
 * that was given to {@link #parse}.
 */
public final class Frontend {
    private static final int REMEMBERED = 1000;
    private static final int LONGEST_REMEMBERED = 2000; // characters

    private final Cache<String, List<ParsedStatement>> parsed =
            CacheBuilder.newBuilder().maximumSize(REMEMBERED).build();

    /** Splits a text at its semicolons and parses each statement; fails at the first syntax error. */
    public List<ParsedStatement> parse(String sql) {
        if (sql.length() > LONGEST_REMEMBERED) {
            return parseAnew(sql);
        }
        List<ParsedStatement> known = parsed.getIfPresent(sql);
        if (known == null) {
            known = parseAnew(sql);
            if (known.stream().allMatch(Frontend::isFrequent)) {
                parsed.put(sql, known);
            }
        }
        return known;
    }

    /** What {@link #parse} would give, if it is remembered; costs next to nothing. */
    public Optional<List<ParsedStatement>> remembered(String sql) {
        return Optional.ofNullable(parsed.getIfPresent(sql));
    }

    /**
     * What clients send again and again: not what has its rows in its text. Others may hold passwords, which nobody should
     * remember.
     */
    private static boolean isFrequent(ParsedStatement statement) {
        Syntax syntax = statement.syntax();
        return syntax instanceof Syntax.Select || syntax.changesRows() && statement.parameterCount() > 0;
    }

    /**
     * The statement of a text that is an INSERT of constants and nothing else; empty for any other. Takes a time that grows with the text
     * only.
     *
     * @throws MillraceException for a syntax error
     */
    public Optional<ParsedStatement> insertOfConstants(String sql) {
        return StatementParser.insertOfConstants(sql).map(parsed -> statement(sql, parsed));
    }

    /**
     * Where in a text that {@link #insertOfConstants} took its rows begin, in characters from 0. Whatever text has the same before its rows
     * inserts them into the same columns, as long as the catalog is the same.
     */
    public int startOfRows(String insertOfConstants) {
        return StatementParser.startOfRows(insertOfConstants);
    }

    /**
     * The rows of an INSERT of constants, read without its grammar.
     *
     * @param from where they begin
     * @param types of the columns that they are for
     * @return empty where it needs the grammar to say what they are
     */
    public Optional<LiteralText> constants(String sql, int from, List<DataType> types) {
        return LiteralScanner.scan(sql, from, types);
    }

    /**
     * Puts values in the places of parameters.
     *
     * @param rows of an INSERT that {@link #analyzeConstants} took with other values
     * @param types of the columns that they are for
     * @return empty where a value is not as its column is written
     */
    public Optional<LiteralRows> constants(
            LiteralRows rows, Schema relation, List<DataType> types, Parameters parameters) {
        int count = parameters.values().map(List::size).orElse(0);
        return new LiteralBinder(new ParameterTypes(parameters, count)).bind(rows, relation, types);
    }

    /**
     * Resolves names and types of an INSERT of constants and parameters with values; empty if these are not as its columns are written.
     */
    public Optional<Statement> analyzeConstants(ParsedStatement statement, Catalog catalog, Parameters parameters) {
        return binder(statement, catalog, parameters).bindConstants((Syntax.Insert) statement.syntax());
    }

    private static ParsedStatement statement(String sql, StatementParser.Parsed parsed) {
        return new ParsedStatement(
                sql,
                sql.substring(parsed.start(), parsed.end()),
                parsed.start(),
                parsed.parameterCount(),
                parsed.syntax());
    }

    private static List<ParsedStatement> parseAnew(String sql) {
        List<ParsedStatement> statements = new ArrayList<>();
        for (StatementParser.Parsed parsed : StatementParser.parse(sql)) {
            statements.add(statement(sql, parsed));
        }
        return List.copyOf(statements);
    }

    /** Resolves names and types. */
    public Statement analyze(ParsedStatement statement, Catalog catalog, Parameters parameters) {
        return binder(statement, catalog, parameters).bind(statement.syntax());
    }

    /** The text of a definition, with what its names mean to a session put into it. */
    public NamedText named(ParsedStatement statement, Catalog catalog, Parameters parameters) {
        StatementBinder binder = binder(statement, catalog, parameters);
        binder.bind(statement.syntax());
        NamedText text = new NamedText(statement);
        text.putReferences(binder.references());
        return text;
    }

    /**
     * The text of a definition that is kept, with other names for what it reads.
     *
     * @param names the new names in the catalog, by those that they are now
     * @param itself the new name of what it makes, if it has another
     * @throws MillraceException 0A000 where the text could mean another then
     */
    public String renamed(
            ParsedStatement statement, Catalog catalog, Map<String, String> names, Optional<String> itself) {
        StatementBinder binder = binder(statement, catalog, Parameters.none());
        binder.bind(statement.syntax());
        NamedText text = new NamedText(statement);
        itself.ifPresent(text::renameNew);
        text.rename(binder.references(), names);
        return text.text();
    }

    /** The text of a statement without parameters in which each name has its schema. */
    public String qualified(ParsedStatement statement, Catalog catalog) {
        StatementBinder binder = binder(statement, catalog, Parameters.none());
        binder.bind(statement.syntax());
        NamedText text = new NamedText(statement);
        text.putSchemas(binder.references());
        return text.text();
    }

    /** What rows of a relation go through before they are written. */
    public RowRules rules(Relation relation, Catalog catalog) {
        if (relation.rules().isEmpty()) {
            return RowRules.NONE;
        }
        try (PlainNumeric.Binding meaning = catalog.numericIn(relation.name()).bind()) {
            return StatementBinder.rules(relation, catalog.ofDefinitions());
        }
    }

    /**
     * A statement whose parameters have no values yet.
     *
     * @param parameterTypes of {@code $1} to {@code $n}, declared or inferred
     */
    public record Open(Statement statement, List<DataType> parameterTypes) {}

    /** Resolves names and types of a statement whose parameters have no values yet; 42P18 if one's type stays open. */
    public Open describe(ParsedStatement statement, Catalog catalog, List<DataType> declaredTypes) {
        StatementBinder binder = binder(statement, catalog, Parameters.toDescribe(declaredTypes));
        Statement bound = binder.bind(statement.syntax());
        return new Open(bound, binder.parameterTypes());
    }

    /** The names of the functions that are there without being made. */
    public static Set<String> functions(boolean aggregates) {
        return StatementBinder.functions(aggregates);
    }

    /**
     * Loads what the first statement needs, which takes most of its time in a cold JVM; for a thread that has nothing
     * better to do while the server starts.
     */
    public void warmUp() {
        String text =
                "SELECT a, count(*), max(b || 'x') FROM (VALUES (1, 'a')) AS t (a, b) WHERE a > 0 GROUP BY a ORDER BY a";
        parse(text).forEach(statement -> analyze(statement, new NoRelations(), Parameters.none()));
    }

    private static final class NoRelations implements Catalog {
        @Override
        public Optional<Relation> relation(String name) {
            return Optional.empty();
        }

        @Override
        public Collection<String> relationNames() {
            return List.of();
        }
    }

    private static StatementBinder binder(ParsedStatement statement, Catalog catalog, Parameters parameters) {
        Parameters placed = parameters.inStyle(DefinitionZone.of(statement.syntax(), statement.style()));
        return new StatementBinder(statement.source(), catalog, placed, statement.parameterCount());
    }
}
