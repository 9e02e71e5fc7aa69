package dev.millrace.server.system;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.DeclaredTypes;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.retention.Backfill;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.Listing;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** SHOW and DESCRIBE. */
public final class Inspection {
    private final Instance database;
    private final SessionSettings settings;

    public Inspection(Instance database, SessionSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    public StatementResult show(Listing listing) {
        return switch (listing) {
            case STREAMS ->
                rows(
                        Schema.of(
                                text("name"),
                                text("connector"),
                                text("event_time"),
                                bigint("rejected_rows"),
                                bigint("readers")),
                        this::streams);
            case TABLES -> rows(Schema.of(text("name"), text("primary_key")), this::tables);
            case CONTINUOUS_QUERIES ->
                rows(
                        Schema.of(
                                text("name"),
                                text("state"),
                                bigint("rows_in"),
                                bigint("rows_out"),
                                bigint("late_rows"),
                                text("error"),
                                text("waits_for")),
                        rows -> queries(ObjectKind.CONTINUOUS_QUERY, rows));
            case MATERIALIZED_VIEWS ->
                rows(
                        Schema.of(
                                text("name"),
                                text("state"),
                                bigint("rows"),
                                bigint("rows_in"),
                                bigint("late_rows"),
                                text("error"),
                                text("waits_for")),
                        rows -> queries(ObjectKind.MATERIALIZED_VIEW, rows));
            case VIEWS -> rows(Schema.of(text("name"), text("definition")), this::views);
            case SINKS ->
                rows(
                        Schema.of(text("name"), text("connector"), text("state"), bigint("rows_out"), text("error")),
                        this::sinks);
            case TEMPLATES ->
                rows(
                        Schema.of(text("name"), bigint("queries"), text("parameters"), text("definition")),
                        this::templates);
            case FUNCTIONS ->
                rows(
                        Schema.of(text("name"), text("kind"), text("arguments"), text("returns"), text("definition")),
                        this::functions);
            case INDEXES ->
                rows(
                        Schema.of(text("name"), text("relation"), text("columns"), text("unique"), text("definition")),
                        this::indexes);
            case QUERY_GROUPS -> system("millrace.query_groups");
            case WORKERS -> system("millrace.workers");
        };
    }

    private StatementResult system(String name) {
        SystemRelation relation = database.catalog().systemRelation(name).orElseThrow();
        return rows(relation.schema(), relation.rows());
    }

    private StatementResult rows(Schema schema, Consumer<RowBuilder> fill) {
        return FixedRows.of(schema, database.engine().allocator(), fill);
    }

    private void templates(RowBuilder rows) {
        for (CatalogObject template : database.templates().templates()) {
            rows.row(
                    template.name(),
                    database.templates().count(template.name()),
                    template.schema().fields().stream()
                            .skip(1)
                            .map(field -> field.name() + " " + field.type())
                            .collect(Collectors.joining(", ")),
                    template.options().getOrDefault(TemplateQueries.OPTION, ""));
        }
    }

    private void streams(RowBuilder rows) {
        for (CatalogObject stream : database.catalog().objects(ObjectKind.STREAM)) {
            rows.row(
                    stream.name(),
                    stream.input().orElseThrow().connector(),
                    stream.eventTime()
                            .map(time -> stream.schema().field(time.column()).name()),
                    database.engine().relations().rejected(stream.name()).count(),
                    database.engine().relations().readers(stream.name()).size());
        }
    }

    private void functions(RowBuilder rows) {
        for (CatalogObject object : database.catalog().objects(ObjectKind.FUNCTION)) {
            UserFunction function =
                    database.catalog().userFunction(object.name()).orElseThrow();
            String arguments = function.parameters().stream()
                    .map(field -> (field.name().startsWith("$") ? "" : field.name() + " ") + field.type())
                    .collect(Collectors.joining(", "));
            String kind = function.kind().name().toLowerCase(Locale.ROOT);
            String returns = function.kind() == UserFunction.Kind.TABLE
                    ? "table" + function.returns().toString().substring("row".length())
                    : function.returns().toString();
            rows.row(function.name(), kind, arguments, returns, object.definition());
        }
    }

    private void indexes(RowBuilder rows) {
        for (CatalogObject object : database.catalog().objects(ObjectKind.INDEX)) {
            Index index = database.catalog().index(object.name()).orElseThrow();
            Schema schema =
                    database.catalog().object(index.relation()).orElseThrow().schema();
            rows.row(
                    index.name(),
                    index.relation(),
                    index.columnTexts(schema),
                    index.unique() ? "yes" : "no",
                    object.definition());
        }
    }

    private void views(RowBuilder rows) {
        for (CatalogObject view : database.catalog().objects(ObjectKind.VIEW)) {
            rows.row(view.name(), view.queryText());
        }
    }

    private void tables(RowBuilder rows) {
        for (CatalogObject table : database.catalog().objects(ObjectKind.TABLE)) {
            String key = String.join(
                    ", ",
                    table.primaryKey().stream()
                            .map(column -> table.schema().field(column).name())
                            .toList());
            rows.row(table.name(), Optional.of(key).filter(names -> !names.isEmpty()));
        }
    }

    private void queries(ObjectKind kind, RowBuilder rows) {
        for (CatalogObject object : database.catalog().objects(kind)) {
            database.standing(object.name()).ifPresent(query -> {
                var statistics = query.statistics();
                boolean view = kind == ObjectKind.MATERIALIZED_VIEW;
                rows.row(
                        object.name(),
                        state(query),
                        view ? statistics.viewRows() : statistics.rowsIn(),
                        view ? statistics.rowsIn() : statistics.rowsOut(),
                        statistics.lateRows(),
                        query.failure().map(MillraceException::getMessage),
                        waitsFor(object, query));
            });
        }
    }

    private Optional<String> waitsFor(CatalogObject object, StandingQuery query) {
        Optional<String> failed = query.state() == QueryState.FAILED
                ? Optional.of(
                        query.isStopped()
                                ? "RESUME [SKIP ROW]: its state is kept"
                                : object.reads().stream().anyMatch(this::hasFailed)
                                        ? "what it reads"
                                        : "RESUME, which begins anew")
                : Optional.empty();
        return database.retries().waitsFor(object).or(() -> failed).or(() -> backfill(object));
    }

    private Optional<String> backfill(CatalogObject object) {
        return database.retained().backfillsOf(object.name()).stream()
                .map(Backfill::progress)
                .filter(progress -> !progress.isOver())
                .findFirst()
                .map(progress -> "the past of " + progress.stream() + ", " + (int) (progress.fraction() * 100)
                        + " % of which it has");
    }

    private boolean hasFailed(String name) {
        return database.standing(name)
                .filter(query -> query.state() == QueryState.FAILED)
                .isPresent();
    }

    private void sinks(RowBuilder rows) {
        for (CatalogObject sink : database.catalog().objects(ObjectKind.SINK)) {
            database.standing(sink.name())
                    .ifPresent(query -> rows.row(
                            sink.name(),
                            Optional.ofNullable(sink.options().get("connector")),
                            state(query),
                            query.statistics().rowsOut(),
                            query.failure().map(MillraceException::getMessage)));
        }
    }

    private static String state(StandingQuery query) {
        QueryState state = query.state();
        return state.name().toLowerCase(Locale.ROOT);
    }

    public StatementResult showCreate(Statement.ShowCreate show) {
        CatalogObject object = show.kind()
                .map(kind -> database.catalog().require(kind, show.name()))
                .orElseGet(() -> database.catalog()
                        .object(show.name())
                        .orElseThrow(() -> DatabaseCatalog.undefined(
                                "relation", show.name(), database.catalog().relationNames())));
        return rows(
                Schema.of(text("name"), text("definition")),
                rows -> rows.row(object.name(), object.definition() + ";"));
    }

    public StatementResult describe(Statement.Describe describe) {
        Optional<CatalogObject> object = database.catalog().object(describe.relation());
        TableRules rules = object.map(CatalogObject::rules).orElse(TableRules.NONE);
        return rows(Schema.of(text("column"), text("type"), text("nullable"), text("role")), rows -> {
            for (int column = 0; column < describe.schema().size(); column++) {
                Field field = describe.schema().field(column);
                int at = column;
                rows.row(
                        field.name(),
                        DeclaredTypes.text(field, rules),
                        field.nullable() ? "yes" : "no",
                        object.flatMap(described -> role(described, at)));
            }
        });
    }

    private static Optional<String> role(CatalogObject object, int column) {
        if (object.eventTime().filter(time -> time.column() == column).isPresent()) {
            double seconds = object.eventTime().get().delayMicros() / 1e6;
            return Optional.of("event time, watermark " + seconds + " s behind");
        }
        return object.primaryKey().contains(column) ? Optional.of("key") : Optional.empty();
    }

    public StatementResult showSetting(Statement.ShowSetting show) {
        if (show.name().filter(PassiveSettings::isPassive).isPresent()) {
            String name = show.name().get().toLowerCase(Locale.ROOT);
            String value = settings.passive(name)
                    .orElseThrow(() -> MillraceException.user(
                                    SqlState.UNDEFINED_OBJECT, "setting \"" + name + "\" does not exist")
                            .withHint("SET gives it a value"));
            return rows(Schema.of(text(name)), rows -> rows.row(value));
        }
        if (show.name().isPresent()) {
            Setting setting = Setting.named(show.name().get());
            return rows(Schema.of(text(setting.reportedName())), rows -> rows.row(value(setting)));
        }
        return rows(Schema.of(text("name"), text("setting"), text("description")), rows -> {
            for (Setting setting : Setting.values()) {
                rows.row(setting.settingName(), value(setting), setting.meaning());
            }
            for (String name : PassiveSettings.defaults().keySet()) {
                rows.row(name, settings.passive(name).orElse(""), PassiveSettings.MEANING);
            }
        });
    }

    private String value(Setting setting) {
        return database.systemSettings()
                .shown(setting)
                .map(SystemSettings.Shown::value)
                .orElseGet(() -> settings.get(setting));
    }

    private static Field text(String name) {
        return new Field(name, DataType.TEXT, true);
    }

    private static Field bigint(String name) {
        return new Field(name, DataType.BIGINT, true);
    }
}
