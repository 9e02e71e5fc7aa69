package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.TemplateText;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** CREATE and DROP of templates and of queries of them, by statements about their tables. Belongs to the session's thread. */
public final class Templates {
    private static final Command CREATED = Command.of("CREATE CONTINUOUS QUERY");

    private final Instance database;
    private final Drops drops;
    private final Consumer<String> notices;
    private final Consumer<String> execute;
    private final Function<String, List<String>> columns;

    /**
     * @param execute runs a statement of this text, for the session
     * @param columns the names that a SELECT of this text gives its columns
     */
    public Templates(
            Instance database,
            Drops drops,
            Consumer<String> notices,
            Consumer<String> execute,
            Function<String, List<String>> columns) {
        this.database = database;
        this.drops = drops;
        this.notices = notices;
        this.execute = execute;
        this.columns = columns;
    }

    /** CREATE QUERY TEMPLATE. With the lock of definitions held. */
    public Command create(Statement.CreateQueryTemplate create) {
        Command created = Command.of("CREATE QUERY TEMPLATE");
        String name = create.name();
        List<String> parameters = create.parameters().stream().map(Field::name).toList();
        requireDifferent(parameters);
        TemplateText text = new TemplateText(name, parameters, create.queryText());
        String answers = text.answersText(columns.apply(text.readText()));
        if (database.catalog().object(name).isPresent()) {
            if (create.ifExists() == IfExists.SKIP) {
                notices.accept("relation \"" + name + "\" already exists, skipping");
                return created;
            } else if (create.ifExists() == IfExists.REPLACE) {
                database.templates().require(name);
                drops.all(List.of(TemplateQueries.answersOf(name), name), false);
            }
        }
        execute.accept("CREATE TABLE " + RelationNames.quoted(name) + " (" + TemplateText.QUERY + " TEXT PRIMARY KEY"
                + create.parameters().stream()
                        .map(field -> ", " + Identifiers.quote(field.name()) + " " + field.type())
                        .collect(Collectors.joining())
                + ") WITH (" + TemplateQueries.OPTION + " = " + Identifiers.quoteText(create.queryText()) + ")");
        try {
            execute.accept("CREATE CONTINUOUS QUERY " + RelationNames.quoted(TemplateQueries.answersOf(name)) + " AS "
                    + answers);
        } catch (MillraceException e) {
            drops.takeBack(name);
            throw e.sqlState() == SqlState.GROUPING_ERROR && !text.groups()
                    ? MillraceException.notAvailableYet("an aggregate without GROUP BY in a template")
                            .withHint(
                                    "group by what is compared with a parameter: each query has its own groups anyway")
                    : e.at(0);
        }
        return created;
    }

    private static void requireDifferent(List<String> parameters) {
        for (int i = 0; i < parameters.size(); i++) {
            String parameter = parameters.get(i);
            if (parameter.equals(TemplateText.QUERY) || parameters.indexOf(parameter) < i) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_COLUMN,
                        parameter.equals(TemplateText.QUERY)
                                ? "a parameter cannot be called \"" + TemplateText.QUERY + "\", which a query's name is"
                                : "parameter \"" + parameter + "\" is there twice");
            }
        }
    }

    /**
     * CREATE CONTINUOUS QUERY .. FROM TEMPLATE: writes a row.
     *
     * @param text of the statement
     */
    public Command createQuery(Statement.CreateFromTemplate create, String text) {
        CatalogObject template = database.templates().require(create.template());
        if (!create.options().isEmpty()) {
            throw MillraceException.notAvailableYet("options of a query from a template")
                    .withHint("ALTER CONTINUOUS QUERY " + TemplateQueries.answersOf(template.name())
                            + " SET (..) is for all of them");
        }
        int parameters = template.schema().size() - 1;
        if (create.arguments().size() != parameters) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            "template \"" + template.name() + "\" takes " + parameters + " values, not "
                                    + create.arguments().size())
                    .withHint("its parameters are "
                            + template.schema().fields().stream()
                                    .skip(1)
                                    .map(field -> field.name() + " " + field.type())
                                    .collect(Collectors.joining(", ")));
        }
        if (database.catalog().object(create.name()).isPresent()) {
            switch (create.ifExists()) {
                case FAIL -> throw exists(create.name());
                case SKIP -> {
                    notices.accept("relation \"" + create.name() + "\" already exists, skipping");
                    return CREATED;
                }
                case REPLACE -> dropQueries(List.of(create.name()));
            }
        }
        try {
            execute.accept("INSERT INTO " + RelationNames.quoted(template.name()) + " VALUES ("
                    + Identifiers.quoteText(create.name()) + arguments(text, parameters) + ")");
        } catch (MillraceException e) {
            throw e.sqlState() == SqlState.UNIQUE_VIOLATION ? exists(create.name()) : e.at(0);
        }
        return CREATED;
    }

    private static MillraceException exists(String name) {
        return MillraceException.user(SqlState.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
    }

    /** What stands in the parentheses behind the template's name, behind a comma. */
    private static String arguments(String text, int count) {
        if (count == 0) {
            return "";
        }
        List<Lexeme> tokens = Lexer.tokens(text);
        int open = 0;
        while (!tokens.get(open).isWord("template")) {
            open++;
        }
        while (!tokens.get(open).isSymbol("(")) {
            open++;
        }
        int close = tokens.size() - 1;
        while (!tokens.get(close).isSymbol(")")) {
            close--;
        }
        return ", " + text.substring(tokens.get(open).end(), tokens.get(close).start()) + "\n";
    }

    /**
     * Holds what is kept to what is there when a database is opened: rows are not yet.
     *
     * @throws MillraceException 0A000 if a statement makes something that reads a query of a template
     */
    public void requireNoneIn(Statement statement) {
        Optional<Query> query = Optional.empty();
        if (statement instanceof Statement.CreateContinuousQuery create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateView create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateStreamAs create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateSink create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.AlterQuery alter) {
            query = Optional.of(alter.query());
        }
        query.stream()
                .flatMap(read -> read.named().stream())
                .forEach(name -> templateOf(name).ifPresent(template -> {
                    throw MillraceException.notAvailableYet(
                                    "reading \"" + name + "\", a query of a template, in what is kept")
                            .withHint("read " + TemplateQueries.answersOf(template) + " WHERE " + TemplateText.QUERY
                                    + " = " + Identifiers.quoteText(name));
                }));
    }

    /** Whether a statement drops queries of templates, which {@link #drop} does. */
    public boolean drops(Statement.Drop drop) {
        return drop.kind() == ObjectKind.CONTINUOUS_QUERY
                && drop.names().stream().anyMatch(name -> templateOf(name).isPresent());
    }

    /** DROP CONTINUOUS QUERY of queries of templates, and of no others: deletes their rows. */
    public Command drop(Statement.Drop drop) {
        List<String> queries = new ArrayList<>();
        for (String name : drop.names()) {
            if (templateOf(name).isPresent()) {
                queries.add(name);
            } else if (drop.ifExists() && database.catalog().object(name).isEmpty()) {
                notices.accept("continuous query \"" + name + "\" does not exist, skipping");
            } else {
                database.catalog().require(drop.kind(), name);
                throw MillraceException.notAvailableYet("DROP of queries of templates and of others at once")
                        .withHint("a statement of its own for \"" + name + "\"");
            }
        }
        dropQueries(queries);
        return Command.of("DROP CONTINUOUS QUERY");
    }

    private Optional<String> templateOf(String name) {
        return database.catalog().object(name).flatMap(TemplateQueries::template);
    }

    private void dropQueries(List<String> names) {
        Map<String, Set<String>> byTemplate = new TreeMap<>();
        for (String name : names) {
            String template = templateOf(name).orElseThrow(() -> exists(name));
            byTemplate.computeIfAbsent(template, of -> new TreeSet<>()).add(Identifiers.quoteText(name));
        }
        byTemplate.forEach((template, queries) -> execute.accept("DELETE FROM " + RelationNames.quoted(template)
                + " WHERE " + TemplateText.QUERY + " IN (" + String.join(", ", queries) + ")"));
    }

    /** DROP QUERY TEMPLATE: with its queries. With the lock of definitions held. */
    public Command dropTemplates(Statement.Drop drop) {
        List<String> all = new ArrayList<>();
        for (String name : drop.names()) {
            if (drop.ifExists() && database.catalog().object(name).isEmpty()) {
                notices.accept("query template \"" + name + "\" does not exist, skipping");
            } else {
                database.templates().require(name);
                all.add(TemplateQueries.answersOf(name));
                all.add(name);
            }
        }
        drops.all(all, drop.cascade()).forEach(database.catalog().roles()::forget);
        return Command.of("DROP QUERY TEMPLATE");
    }
}
