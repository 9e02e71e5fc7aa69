package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.sql.text.PackedText;
import dev.millrace.type.PlainNumeric;
import dev.millrace.type.Schema;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One named object.
 *
 * @param schema its columns; of a sink, those it is given
 * @param appendOnly whether rows are only ever added
 * @param primaryKey columns that identify a row; empty when there are none
 * @param eventTime the time that a stream's rows happened at, or from which on a table's are valid
 * @param input of a stream: where its rows come from
 * @param reads names of the relations it was made from
 * @param options of its WITH clause
 * @param text that made it, without the semicolon
 * @param createdMicros when, since 1970 UTC
 * @param rules of rows that are written to it
 * @param numeric what NUMERIC without digits means in the definition
 */
public record CatalogObject(
        String name,
        ObjectKind kind,
        Schema schema,
        boolean appendOnly,
        List<Integer> primaryKey,
        Optional<Relation.EventTime> eventTime,
        Optional<StreamInput> input,
        Set<String> reads,
        Map<String, String> options,
        PackedText text,
        long createdMicros,
        TableRules rules,
        PlainNumeric numeric) {
    /** The option after how long without a row nobody waits for the watermark of a stream or table. */
    public static final String IDLE_TIMEOUT = "watermark.idle_timeout";

    /** The option of a query that takes the place of another when it has all that this has. */
    public static final String REPLACES = "replaces";

    /** The option of a query that reads the windows that devices made for another one, or for itself, from the past on. */
    public static final String WINDOWS_OF = "windows_of";

    /** The option of when who writes into a stream is answered. */
    public static final String DURABILITY = "durability";

    /** When who writes into a stream is answered: when the rows are on disk, or when they are accepted. */
    public enum Durability {
        SYNC,
        ASYNC
    }

    public CatalogObject {
        primaryKey = List.copyOf(primaryKey);
        reads = Set.copyOf(reads);
        options = Map.copyOf(options);
    }

    /** One whose definition is bound now, on the calling thread. */
    public CatalogObject(
            String name,
            ObjectKind kind,
            Schema schema,
            boolean appendOnly,
            List<Integer> primaryKey,
            Optional<Relation.EventTime> eventTime,
            Optional<StreamInput> input,
            Set<String> reads,
            Map<String, String> options,
            String definition,
            long createdMicros,
            TableRules rules) {
        this(
                name,
                kind,
                schema,
                appendOnly,
                primaryKey,
                eventTime,
                input,
                reads,
                options,
                definition,
                createdMicros,
                rules,
                PlainNumeric.current());
    }

    /** One whose definition says so much of numbers. */
    public CatalogObject(
            String name,
            ObjectKind kind,
            Schema schema,
            boolean appendOnly,
            List<Integer> primaryKey,
            Optional<Relation.EventTime> eventTime,
            Optional<StreamInput> input,
            Set<String> reads,
            Map<String, String> options,
            String definition,
            long createdMicros,
            TableRules rules,
            PlainNumeric numeric) {
        this(
                name,
                kind,
                schema,
                appendOnly,
                primaryKey,
                eventTime,
                input,
                reads,
                options,
                PackedText.of(definition, name),
                createdMicros,
                rules,
                numeric);
    }

    /** The text that made it, without the semicolon. */
    public String definition() {
        return text.toString();
    }

    /** A schema, by its name without the point. */
    public static CatalogObject schema(String name, long createdMicros) {
        return new CatalogObject(
                RelationNames.ofSchema(name),
                ObjectKind.SCHEMA,
                new Schema(List.of()),
                false,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Set.of(),
                Map.of(),
                "CREATE SCHEMA " + Identifiers.quote(name),
                createdMicros,
                TableRules.NONE);
    }

    /** Whether who writes to it, outside a transaction, is answered before the rows are on disk. */
    public boolean isDurableLater() {
        return options.getOrDefault(DURABILITY, "").equalsIgnoreCase(Durability.ASYNC.name());
    }

    /** As queries see it; empty for what cannot be read. */
    public Optional<Relation> relation() {
        Optional<Relation.Kind> readable = switch (kind) {
            case STREAM -> Optional.of(Relation.Kind.STREAM);
            case TABLE -> Optional.of(Relation.Kind.TABLE);
            case CONTINUOUS_QUERY -> Optional.of(Relation.Kind.CONTINUOUS_QUERY);
            case MATERIALIZED_VIEW -> Optional.of(Relation.Kind.MATERIALIZED_VIEW);
            case VIEW -> Optional.of(Relation.Kind.VIEW);
            case SINK, QUERY_TEMPLATE, FUNCTION, INDEX, SCHEMA -> Optional.empty();
        };
        return readable.map(as -> new Relation(name, as, schema, appendOnly, primaryKey, eventTime, rules));
    }

    /** The same with other rules. */
    public CatalogObject withRules(TableRules newRules) {
        return new CatalogObject(
                name,
                kind,
                schema,
                appendOnly,
                primaryKey,
                eventTime,
                input,
                reads,
                options,
                text,
                createdMicros,
                newRules,
                numeric);
    }

    /** The same under another name, or of what has others. */
    public CatalogObject renamed(String newName, Set<String> newReads, String newDefinition, TableRules newRules) {
        return new CatalogObject(
                newName,
                kind,
                schema,
                appendOnly,
                primaryKey,
                eventTime,
                input,
                newReads,
                options,
                newDefinition,
                createdMicros,
                newRules,
                numeric);
    }

    /** Of a query: the same with other options. */
    public CatalogObject withOptions(Map<String, String> newOptions) {
        return new CatalogObject(
                name,
                kind,
                schema,
                appendOnly,
                primaryKey,
                eventTime,
                input,
                reads,
                newOptions,
                queryDefinition(kind, name, newOptions, queryText()),
                createdMicros,
                rules,
                numeric);
    }

    /** The text that makes a query. */
    public static String queryDefinition(ObjectKind kind, String name, Map<String, String> options, String queryText) {
        String with = options.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(option -> option.getKey() + " = " + Identifiers.quoteText(option.getValue()))
                .collect(Collectors.joining(", "));
        return "CREATE " + kind.sqlName().toUpperCase(Locale.ROOT) + " " + RelationNames.quoted(name)
                + (with.isEmpty() ? "" : " WITH (" + with + ")") + " AS " + queryText;
    }

    /** Names of what has to be there for it: what it reads, a query in whose place it is to come, and its schema; an index goes with its relation. */
    public Set<String> requires() {
        Set<String> all = new HashSet<>(reads);
        String schema = RelationNames.prefix(name);
        boolean isOwn = kind != ObjectKind.INDEX && kind != ObjectKind.SCHEMA && !RelationNames.isOfSession(name);
        if (isOwn && !schema.isEmpty()) {
            all.add(RelationNames.ofSchema(schema));
        }
        Optional.ofNullable(options.get(REPLACES)).ifPresent(all::add);
        return all;
    }

    /** Those, and others that it is made behind. */
    public Set<String> follows() {
        Set<String> all = requires();
        Optional.ofNullable(options.get(WINDOWS_OF)).ifPresent(all::add);
        return all;
    }

    /** The text behind AS, of what is made from a query, without WITH DATA; all of the text where there is none. */
    public String queryText() {
        int depth = 0;
        String definition = definition();
        List<Lexeme> lexemes = Lexer.tokens(definition);
        for (Lexeme lexeme : lexemes) {
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            if (depth == 0 && lexeme.isWord("as")) {
                return definition
                        .substring(lexeme.end(), endOfQuery(definition, lexemes))
                        .strip();
            }
        }
        return definition;
    }

    private int endOfQuery(String definition, List<Lexeme> lexemes) {
        if (kind == ObjectKind.STREAM || kind == ObjectKind.SINK) {
            return beforeOptions(definition, lexemes);
        }
        int last = lexemes.size() - 2; // before END
        if (!lexemes.get(last).isWord("data")) {
            return definition.length();
        }
        int with = lexemes.get(last - 1).isWord("no") ? last - 2 : last - 1;
        return lexemes.get(with).isWord("with") ? lexemes.get(with).start() : definition.length();
    }

    /** Before the options, if they are behind the query. */
    private static int beforeOptions(String definition, List<Lexeme> lexemes) {
        int depth = 0;
        boolean isBehindAs = false;
        for (int i = 0; i + 1 < lexemes.size(); i++) {
            Lexeme lexeme = lexemes.get(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            isBehindAs |= depth == 0 && lexeme.isWord("as");
            if (depth == 0
                    && isBehindAs
                    && lexeme.isWord("with")
                    && lexemes.get(i + 1).isSymbol("(")) {
                return lexeme.start();
            }
        }
        return definition.length();
    }
}
