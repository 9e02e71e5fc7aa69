package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.calcite.sql.SqlIdentifier;

/**
 * The text of a definition, and another one that says the same in the catalog's names: it means the same to whoever reads it again.
 *
 * <pre>
 *   CREATE VIEW v AS SELECT name FROM users       of a session that looks in the schema s1 first
 *   CREATE VIEW s1.v AS SELECT name FROM s1.users
 * </pre>
 *
 * Used once, on one thread.
 */
public final class NamedText {
    private static final Set<String> BEFORE_KIND =
            Set.of("or", "replace", "local", "global", "unlogged", "materialized", "continuous");
    private static final Set<String> TEMPORARY = Set.of("temp", "temporary");
    private static final Set<String> KINDS = Set.of("table", "view", "stream", "source", "sink", "function", "query");

    /** Words behind a relation that is called by its own name. */
    private static final Set<String> BEHIND_RELATION = Set.of(
            "anti",
            "asof",
            "cross",
            "emit",
            "except",
            "fetch",
            "for",
            "full",
            "group",
            "having",
            "inner",
            "intersect",
            "join",
            "lateral",
            "left",
            "limit",
            "match_recognize",
            "natural",
            "offset",
            "on",
            "order",
            "pivot",
            "positional",
            "qualify",
            "right",
            "sample",
            "semi",
            "tablesample",
            "union",
            "unpivot",
            "using",
            "where",
            "window",
            "with");

    private final ParsedStatement statement;
    private final List<Lexeme> lexemes;
    private final Map<Integer, Edit> edits = new TreeMap<>(); // by where they begin

    private record Edit(int end, String text) {}

    /** A name in the text: its tokens from one to before another. */
    private record Place(int first, int behind) {}

    public NamedText(ParsedStatement statement) {
        this.statement = statement;
        this.lexemes = Lexer.tokens(statement.text());
    }

    /** The parts of the name of what is made, as it is written; empty where nothing is made that lasts. */
    public Optional<List<String>> newName() {
        return placeOfNew().map(this::parts);
    }

    /** What is made has this name in the catalog. */
    public void putNewName(String name) {
        placeOfNew().ifPresent(place -> put(place, name));
    }

    /** What names in the text mean. Those that are not where they say, being of other texts, are passed over. */
    public void putReferences(Map<SqlIdentifier, String> references) {
        references.forEach((written, name) -> placeOf(written)
                .filter(place -> !RelationNames.of(parts(place)).equals(name))
                .ifPresent(place -> put(place, name)));
    }

    /** Names in the text have their schemas, also where they mean the same without. */
    void putSchemas(Map<SqlIdentifier, String> references) {
        references.forEach((written, name) ->
                placeOf(written).filter(place -> parts(place).size() == 1).ifPresent(place -> put(place, name)));
    }

    /**
     * Names in the text are others. Where what is read was called by its own name, and columns may be, it goes on being called so.
     *
     * @param references what names in the text mean
     * @param names the new names in the catalog, by those that are meant
     * @throws MillraceException 0A000 where the text could mean another then
     */
    void rename(Map<SqlIdentifier, String> references, Map<String, String> names) {
        Map<Place, String> renamed = new LinkedHashMap<>();
        references.forEach((written, before) -> {
            String name = names.getOrDefault(before, before);
            placeOf(written).filter(place -> !name.equals(before)).ifPresent(place -> renamed.put(place, name));
        });
        renamed.forEach((place, name) -> put(place, name, ""));
        renamed.forEach((place, name) -> keepAlias(place, last(place), name));
    }

    private String last(Place place) {
        return lexemes.get(place.behind() - 1).text();
    }

    private void keepAlias(Place place, String before, String name) {
        String now = name.substring(name.indexOf('.') + 1);
        if (now.equals(before) || !isMentioned(before) && !isMentioned(now) || hasAlias(place)) {
            return;
        }
        Lexeme ahead = lexemes.get(place.first() - 1);
        boolean takesAlias = ahead.isWord("from") || ahead.isWord("join") || ahead.isSymbol(",") || ahead.isSymbol("(");
        if (!takesAlias) {
            throw MillraceException.notAvailableYet("another name of \"" + before + "\" where it is read as in: "
                            + statement.text().strip())
                    .withHint("that text calls something else by one of the names");
        }
        put(place, name, " AS " + Identifiers.quote(before));
    }

    /** Whether anything in the text has a name but for what gets another. */
    private boolean isMentioned(String name) {
        return lexemes.stream()
                .anyMatch(lexeme -> lexeme.isName()
                        && lexeme.text().equals(name)
                        && edits.entrySet().stream()
                                .noneMatch(edit -> edit.getKey() <= lexeme.start()
                                        && lexeme.end() <= edit.getValue().end()));
    }

    private boolean hasAlias(Place place) {
        Lexeme next = lexemes.get(place.behind());
        return next.isName() && !(next.kind() == Lexeme.Kind.WORD && BEHIND_RELATION.contains(next.text()));
    }

    /** What is made has another name in the catalog from now on, of which nothing else in the text speaks. */
    public void renameNew(String name) {
        placeOfNew().ifPresent(place -> put(place, name, ""));
    }

    /** Whether the text says something else than the catalog's names. */
    public boolean isOther() {
        return !edits.isEmpty();
    }

    /** The text in the catalog's names. */
    public String text() {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (Map.Entry<Integer, Edit> edit : edits.entrySet()) {
            text.append(statement.text(), at, edit.getKey())
                    .append(edit.getValue().text());
            at = edit.getValue().end();
        }
        return text.append(statement.text().substring(at)).toString();
    }

    private void put(Place place, String name) {
        String schema = RelationNames.prefix(name).isEmpty() ? Identifiers.quote(RelationNames.PUBLIC) + "." : "";
        putText(place, schema + RelationNames.quoted(name));
    }

    private void put(Place place, String name, String behind) {
        putText(place, RelationNames.quoted(name) + behind);
    }

    private void putText(Place place, String text) {
        edits.put(
                lexemes.get(place.first()).start(),
                new Edit(lexemes.get(place.behind() - 1).end(), text));
    }

    private Optional<Place> placeOfNew() {
        int at = 0;
        if (!lexemes.get(at++).isWord("create")) {
            return Optional.empty();
        }
        while (BEFORE_KIND.contains(lexemes.get(at).text())) {
            at++;
        }
        if (TEMPORARY.contains(lexemes.get(at).text())
                || !KINDS.contains(lexemes.get(at).text())) {
            return Optional.empty();
        }
        at += lexemes.get(at + 1).isWord("template") ? 2 : 1;
        at += lexemes.get(at).isWord("if") && lexemes.get(at + 1).isWord("not") ? 3 : 0;
        return Optional.of(placeAt(at));
    }

    private Optional<Place> placeOf(SqlIdentifier written) {
        int start = written.getParserPosition().getColumnNum() - 1 - statement.offset();
        for (int i = 0; i < lexemes.size() - 1; i++) {
            if (lexemes.get(i).start() == start && lexemes.get(i).isName()) {
                Place place = placeAt(i);
                List<String> parts = parts(place);
                int more = parts.size() - written.names.size(); // the database before a schema
                return Optional.of(place)
                        .filter(found ->
                                more >= 0 && parts.subList(more, parts.size()).equals(written.names));
            }
        }
        return Optional.empty();
    }

    private Place placeAt(int first) {
        int at = first + 1;
        while (lexemes.get(at).isSymbol(".") && lexemes.get(at + 1).isName()) {
            at += 2;
        }
        return new Place(first, at);
    }

    private List<String> parts(Place place) {
        List<String> parts = new ArrayList<>();
        for (int i = place.first(); i < place.behind(); i += 2) {
            parts.add(lexemes.get(i).text());
        }
        return parts;
    }
}
