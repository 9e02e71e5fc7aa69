package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.retention.RetentionClause;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Streams whose columns the connector finds out: it is asked before the statement is analysed, as computed columns and the watermark may
 * be made of what it finds. The statement is then executed as if all that had been said in it, so that it stays as it is over a restart.
 */
public final class GuessedStreams {
    private final Instance database;
    private final Consumer<String> notices;

    public GuessedStreams(Instance database, Consumer<String> notices) {
        this.database = database;
        this.notices = notices;
    }

    /** The statement without columns and without what may be made of them, if it is a CREATE STREAM that declares none. */
    public static Optional<Syntax> withoutColumns(Syntax syntax) {
        boolean isOne = syntax instanceof Syntax.CreateRelation create
                && create.kind() == ObjectKind.STREAM
                && create.options().containsKey("connector")
                && create.columns().stream()
                        .allMatch(column -> column.rule()
                                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED)
                                .isPresent());
        if (!isOne) {
            return Optional.empty();
        }
        Syntax.CreateRelation create = (Syntax.CreateRelation) syntax;
        return Optional.of(new Syntax.CreateRelation(
                create.kind(),
                create.name(),
                create.ifExists(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                create.options()));
    }

    /**
     * Has the connector look; who made the statement is told of what it found.
     *
     * @param create of {@link #withoutColumns}, which its role may do
     * @param text of the whole statement
     * @return the statement with all that was found; empty if the connector knows its columns without looking
     */
    public Optional<String> settle(Statement.CreateStream create, String text) {
        boolean isPassedOver = create.ifExists() == Statement.IfExists.SKIP
                && database.catalog().object(create.name()).isPresent();
        if (isPassedOver) {
            return Optional.empty();
        }
        Options options = new Options(create.options(), database.references());
        List.of("on_error", CatalogObject.IDLE_TIMEOUT, CatalogObject.DURABILITY)
                .forEach(options::text);
        RetentionClause.of(options);
        Source source =
                database.connectors().source(options.required("connector")).create(new Schema(List.of()), options);
        if (!source.isInferred()) {
            return Optional.empty();
        }
        options.rejectUnread();
        Set<String> included = create.options().entrySet().stream()
                .filter(option -> option.getKey().startsWith("include."))
                .map(Map.Entry::getValue)
                .collect(Collectors.toSet());
        List<Field> columns = source.schema().fields().stream()
                .filter(field -> !included.contains(field.name()))
                .toList();
        Map<String, String> assumed = source.assumptions().options();
        notices.accept("columns of \"" + create.name() + "\" were inferred: " + InferredColumns.text(columns));
        if (!assumed.isEmpty()) {
            notices.accept("options of \"" + create.name() + "\" were inferred: " + InferredColumns.text(assumed));
        }
        source.assumptions().remarks().forEach(notices);
        return Optional.of(InferredColumns.withOptions(InferredColumns.into(text, columns), assumed));
    }
}
