package dev.millrace.server.script;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Orders definitions so that each comes behind what it reads: roles, settings, functions, streams and tables first, then, where a dump
 * has the rows, all else, derived streams too; foreign keys, owners and privileges last. Objects of one kind are in the order of their names as far as that allows, so
 * that the same objects always give the same script.
 */
public final class DefinitionScript {
    private static final String SUPERUSER = "millrace";

    /** Kinds that read no relation, but for derived streams, in the order in which they come. */
    private static final List<String> FIRST = List.of("schema", "function", "stream", "table");

    private static final List<String> BEGIN_QUERIES = List.of("select", "with", "values", "table");

    /** An object. @param numeric what NUMERIC without digits means in its statement */
    public record Definition(
            String name,
            String kind,
            String sql,
            String owner,
            boolean paused,
            Set<String> requires,
            String note,
            PlainNumeric numeric) {}

    /**
     * One statement, without a semicolon.
     *
     * @param kind {@code role}, {@code setting}, that of an object, {@code pause}, {@code owner}, {@code privilege} or {@code comment}
     * @param name of the object that it is about; empty for others
     * @param note what is to be known about it besides; may be empty
     */
    public record Step(String kind, String name, String statement, String note) {}

    private DefinitionScript() {}

    /**
     * All statements in their order.
     *
     * @param roles statements that make the roles
     * @param grants statements that give privileges
     */
    public static List<Step> of(
            List<String> roles, Map<String, String> settings, Collection<Definition> objects, List<String> grants) {
        List<Step> steps = new ArrayList<>();
        roles.forEach(statement -> steps.add(new Step("role", "", statement, "")));
        new TreeMap<>(settings)
                .forEach((name, value) ->
                        steps.add(new Step("setting", "", "SET " + name + " = " + Identifiers.quoteText(value), "")));
        if (objects.stream().anyMatch(object -> object.kind().equals("schema"))) {
            steps.add(new Step("setting", "", "SET search_path = public", ""));
        }
        Set<String> names = objects.stream().map(Definition::name).collect(Collectors.toSet());
        List<Definition> ordered = ordered(objects.stream()
                .filter(object -> !object.name().equals(Feeds.POSITIONS)) // which those make that need it
                .filter(object -> !WindowsAtEdge.isStreamOfQuery(object.name(), names))
                .toList());
        for (Definition object : ordered) {
            steps.add(new Step(object.kind(), object.name(), statement(object), object.note()));
            if (object.paused()) {
                steps.add(new Step("pause", object.name(), "PAUSE " + subject(object), ""));
            }
        }
        for (Definition object : ordered) {
            for (String foreignKey : ForeignKeyTexts.of(object.sql()).foreignKeys()) {
                String alter = "ALTER TABLE " + RelationNames.quoted(object.name()) + " ADD " + foreignKey;
                steps.add(new Step("foreign key", object.name(), alter, ""));
            }
        }
        for (Definition object : ordered) {
            if (!object.owner().isEmpty()
                    && !object.owner().equals(SUPERUSER)
                    && !object.kind().equals("index")) {
                String owner = "ALTER " + subject(object) + " OWNER TO " + Identifiers.quote(object.owner());
                steps.add(new Step("owner", object.name(), owner, ""));
            }
        }
        grants.forEach(statement -> steps.add(new Step("privilege", "", statement, "")));
        return steps;
    }

    /** What makes it with the meaning that NUMERIC without digits has in it. */
    private static String statement(Definition object) {
        String sql =
                object.kind().equals("table") ? ForeignKeyTexts.of(object.sql()).without() : object.sql();
        return object.numeric() == PlainNumeric.UNLIMITED
                ? sql
                : "SET plain_numeric = 'limited';\n" + sql + "\n; RESET plain_numeric";
    }

    private static String subject(Definition object) {
        return object.kind().toUpperCase(Locale.ROOT) + " " + RelationNames.quoted(object.name());
    }

    private static List<Definition> ordered(Collection<Definition> objects) {
        Map<String, Definition> byName = new TreeMap<>();
        objects.forEach(object -> byName.put(object.name(), object));
        LinkedHashSet<Definition> ordered = new LinkedHashSet<>();
        for (String kind : FIRST) {
            byName.values().stream()
                    .filter(object -> object.kind().equals(kind) && !isDerived(kind, object.sql()))
                    .forEach(ordered::add);
        }
        Set<String> begun = new HashSet<>();
        byName.values().forEach(object -> add(object, byName, begun, ordered));
        return new ArrayList<>(ordered);
    }

    /** What has to be there for it first; of two that seem to need each other, the one that was come to first is last. */
    private static void add(
            Definition object, Map<String, Definition> byName, Set<String> begun, Set<Definition> ordered) {
        if (begun.add(object.name())) {
            for (String name : new TreeSet<>(object.requires())) {
                Definition read = byName.get(name);
                if (read != null) {
                    add(read, byName, begun, ordered);
                }
            }
            ordered.add(object);
        }
    }

    /**
     * A durable subscription, made by its owner: for the end, when roles have their privileges. It begins with what its query answers then.
     *
     * @param limitBytes of changes that may be there and not acknowledged; written in kilobytes
     */
    public static Step subscription(String name, String owner, String query, long limitBytes) {
        String create = "CREATE SUBSCRIPTION " + Identifiers.quote(name) + " FROM " + RelationNames.quoted(query)
                + " WITH (limit = '" + (limitBytes / 1024 + (limitBytes % 1024 == 0 ? 0 : 1)) + "kB')";
        String statement = owner.equals(SUPERUSER)
                ? create
                : "SET ROLE " + Identifiers.quote(owner) + "; " + create + "; RESET ROLE";
        return new Step("subscription", name, statement, "");
    }

    /**
     * What makes comments; those of sessions' own relations go with them.
     *
     * @param kindOf the kind of an object, by its name; empty for a schema that is always there
     */
    public static List<Step> comments(Map<Commented, String> comments, Function<String, Optional<String>> kindOf) {
        List<Step> steps = new ArrayList<>();
        comments.forEach((on, text) -> {
            if (!RelationNames.isOfSession(on.name())) {
                String target = target(on, kindOf.apply(on.name()).orElse("schema"));
                String statement = "COMMENT ON " + target + " IS " + Identifiers.quoteText(text);
                steps.add(new Step("comment", on.name(), statement, ""));
            }
        });
        return steps;
    }

    private static String target(Commented on, String kind) {
        if (on.equals(Commented.DATABASE)) {
            return "DATABASE " + Identifiers.quote(Setting.DATABASE.defaultValue());
        }
        String name = RelationNames.quoted(on.name());
        return switch (on.kind()) {
            case THING -> kind.toUpperCase(Locale.ROOT) + " " + name;
            case COLUMN -> "COLUMN " + name + "." + Identifiers.quote(on.part());
            case CONSTRAINT -> "CONSTRAINT " + Identifiers.quote(constraint(on)) + " ON " + name;
        };
    }

    private static String constraint(Commented on) {
        String schema = RelationNames.prefix(on.name());
        String table = schema.isEmpty() ? on.name() : on.name().substring(schema.length() + 1);
        return on.part().isEmpty() ? table + "_pkey" : on.part();
    }

    /** That a column of numbers goes on where it was; for the moment before its table has rows. */
    public static Step counter(String table, String column, long last) {
        return new Step(
                "counter",
                table,
                "ALTER TABLE " + RelationNames.quoted(table) + " ALTER COLUMN " + Identifiers.quote(column)
                        + " RESTART WITH " + (last + 1),
                "");
    }

    /** What is to be known of a Java function: its code, wherever the file is by then. */
    public static String jarNote(String sha256) {
        return "the jar has SHA-256 " + sha256;
    }

    /** Whether an object is a stream that a query fills: it reads others, and nobody else can give it rows. */
    public static boolean isDerived(String kind, String sql) {
        if (!kind.equals("stream")) {
            return false;
        }
        int depth = 0;
        List<Lexeme> lexemes = Lexer.tokens(sql);
        for (int i = 0; i + 1 < lexemes.size(); i++) {
            Lexeme lexeme = lexemes.get(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            Lexeme next = lexemes.get(i + 1); // INCLUDE OFFSET AS has a name there
            if (depth == 0
                    && lexeme.isWord("as")
                    && (next.isSymbol("(") || BEGIN_QUERIES.stream().anyMatch(next::isWord))) {
                return true;
            }
        }
        return false;
    }

    /** The names in a statement that may be those of relations: more than it requires, and never fewer. */
    public static Set<String> namesIn(String sql) {
        Set<String> names = new HashSet<>();
        List<Lexeme> lexemes = Lexer.tokens(sql);
        for (int i = 0; i < lexemes.size(); i++) {
            boolean isOption = i > 1 && lexemes.get(i - 1).isSymbol("=");
            boolean isQuery = isOption
                    && (lexemes.get(i - 2).isWord(CatalogObject.REPLACES)
                            || lexemes.get(i - 2).isWord(CatalogObject.WINDOWS_OF));
            if (lexemes.get(i).isName() || isQuery) {
                names.add(lexemes.get(i).text());
                names.add(RelationNames.ofSchema(lexemes.get(i).text()));
            }
            if (i > 1 && lexemes.get(i).isName() && lexemes.get(i - 1).isSymbol(".")) {
                names.add(RelationNames.of(
                        List.of(lexemes.get(i - 2).text(), lexemes.get(i).text())));
            }
        }
        return names;
    }
}
