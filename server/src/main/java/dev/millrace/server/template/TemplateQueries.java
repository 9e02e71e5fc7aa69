package dev.millrace.server.template;

import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.TemplateText;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.Schema;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The templates, and the queries of them by their names: each is as a view of its template's answers. A query is found by the key of its row, so
 * there may be millions. Safe on any thread.
 */
public final class TemplateQueries implements DatabaseCatalog.Listener {
    /** The option of a template's table: the text of its query. */
    public static final String OPTION = "template";

    private static final String ANSWERS = "_answers";

    private final DatabaseCatalog catalog;
    private final Map<String, TableKeys> keys;
    private final Predicate<String> isBeingMade;
    private final Map<String, CatalogObject> templates = new ConcurrentSkipListMap<>();

    /**
     * @param keys of tables, by name
     * @param isBeingMade whether the statement that makes a table is under way: who writes to it waits for that, so that waits for nobody who does
     */
    public TemplateQueries(DatabaseCatalog catalog, Map<String, TableKeys> keys, Predicate<String> isBeingMade) {
        this.catalog = catalog;
        this.keys = keys;
        this.isBeingMade = isBeingMade;
    }

    /** The name of the continuous query that answers a template's queries. */
    public static String answersOf(String template) {
        return template + ANSWERS;
    }

    @Override
    public void defined(CatalogObject object) {
        if (object.kind() == ObjectKind.TABLE && object.options().containsKey(OPTION)) {
            templates.put(object.name(), object);
        }
    }

    @Override
    public void removed(String name) {
        templates.remove(name);
    }

    /** All templates, by name. */
    public Collection<CatalogObject> templates() {
        return templates.values();
    }

    /** @throws MillraceException 42P01 if there is no such template */
    public CatalogObject require(String name) {
        return Optional.ofNullable(templates.get(name))
                .orElseThrow(() -> DatabaseCatalog.undefined("query template", name, templates.keySet()));
    }

    /** How many queries a template has. */
    public long count(String template) {
        return Optional.ofNullable(keys.get(template)).map(TableKeys::count).orElse(0L);
    }

    /** The template that has a query of this name, unless the name is another object's. */
    public Optional<CatalogObject> templateOf(String query) {
        return templates.values().stream()
                .filter(template -> !isBeingMade.test(template.name()))
                .filter(template -> Optional.ofNullable(keys.get(template.name()))
                        .filter(known -> known.has(query))
                        .isPresent())
                .findFirst();
    }

    /** A query as what it is read as. */
    public Optional<CatalogObject> query(String name) {
        return templateOf(name)
                .flatMap(template ->
                        catalog.object(answersOf(template.name())).map(answers -> view(name, template, answers)));
    }

    private static CatalogObject view(String name, CatalogObject template, CatalogObject answers) {
        List<Integer> own = IntStream.range(1, answers.schema().size()).boxed().toList();
        Schema schema = answers.schema().select(own);
        String columns = schema.names().stream().map(Identifiers::quote).collect(Collectors.joining(", "));
        String text = "CREATE VIEW " + Identifiers.quote(name) + " AS SELECT " + columns + " FROM "
                + RelationNames.quoted(answers.name()) + " WHERE " + TemplateText.QUERY + " = "
                + Identifiers.quoteText(name);
        return new CatalogObject(
                name,
                ObjectKind.VIEW,
                schema,
                answers.appendOnly(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Set.of(answers.name()),
                Map.of(OPTION, template.name()),
                text,
                template.createdMicros(),
                TableRules.NONE);
    }

    /** The template of what {@link #query} gave; none of any other object. */
    public static Optional<String> template(CatalogObject object) {
        return Optional.of(object)
                .filter(view -> view.kind() == ObjectKind.VIEW)
                .flatMap(view -> Optional.ofNullable(view.options().get(OPTION)));
    }
}
