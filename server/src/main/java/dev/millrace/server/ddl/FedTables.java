package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.engine.relation.OnError;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.dml.FedRows;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Set;

/** What CREATE TABLE does where a connector feeds the table. With the lock of definitions held. */
final class FedTables {
    private static final String POSITIONS = "CREATE TABLE " + Feeds.POSITIONS
            + " (name TEXT, number BIGINT, position BYTEA, PRIMARY KEY (name, number))";

    private final Instance database;
    private final Definitions definitions;

    FedTables(Instance database, Definitions definitions) {
        this.database = database;
        this.definitions = definitions;
    }

    /** A feed, and what becomes of records that it cannot make changes of. */
    record Fed(TableFeed feed, OnError onError) {}

    /**
     * The feed of a table.
     *
     * @param options of which those of tables were read; no others are left when this returns
     */
    Fed feed(CatalogObject table, String connector, Options options) {
        requirePlain(table, connector);
        Schema given = FedRows.given(table);
        List<Integer> key = table.primaryKey().stream()
                .map(column -> given.indexOf(table.schema().field(column).name()))
                .toList();
        if (key.isEmpty() || key.contains(-1)) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "table \"" + table.name() + "\" needs a PRIMARY KEY of columns that connector " + connector
                                    + " gives: by it rows are changed")
                    .withHint("CREATE STREAM for rows that replace none");
        }
        boolean isOnErrorGiven = options.text("on_error").isPresent();
        OnError onError = options.oneOf("on_error", OnError.FAIL);
        TableFeed feed = database.connectors().feed(connector).create(table.name(), given, key, options);
        options.rejectUnread();
        if (isOnErrorGiven && !feed.rejects()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"on_error\" does not exist: what connector " + connector
                                    + " brings are no records")
                    .withHint("a row that the table cannot take stops it, and millrace.sources says why");
        }
        if (!database.catalogStore().isRestoring()) {
            feed.check();
        }
        return new Fed(feed, onError);
    }

    private static void requirePlain(CatalogObject table, String connector) {
        boolean onlyGenerated = table.rules().checks().isEmpty()
                && table.rules().uniques().isEmpty()
                && table.rules().columns().values().stream().allMatch(rule -> rule.kind() == ColumnRule.Kind.GENERATED);
        if (!onlyGenerated) {
            throw MillraceException.notAvailableYet("DEFAULT, UNIQUE or CHECK of a table that a connector feeds")
                    .withHint(
                            "the other database has them; n INT GENERATED ALWAYS AS (coalesce(given, 0)) STORED computes a"
                                    + " column");
        }
        for (Field field : table.schema().fields()) {
            if (field.type().isNested()) {
                throw MillraceException.notAvailableYet("column \"" + field.name() + "\" of type " + field.type()
                        + " of a table that connector " + connector + " feeds");
            }
        }
    }

    /** Makes the table that has the positions of feeds, where there is none, and says that the fed table needs it. */
    CatalogObject withPositions(CatalogObject table) {
        if (database.catalog().object(Feeds.POSITIONS).isEmpty()) {
            if (database.catalogStore().isRestoring()) {
                throw MillraceException.internal("table " + Feeds.POSITIONS + " is not there");
            }
            Statement.CreateTable create = (Statement.CreateTable) database.frontend()
                    .analyze(database.frontend().parse(POSITIONS).get(0), database.catalog(), Parameters.none());
            definitions.createTable(create, POSITIONS);
            database.catalog().roles().setOwner(Feeds.POSITIONS, Roles.OWNER);
        }
        return new CatalogObject(
                table.name(),
                table.kind(),
                table.schema(),
                table.appendOnly(),
                table.primaryKey(),
                table.eventTime(),
                table.input(),
                Set.of(Feeds.POSITIONS),
                table.options(),
                table.definition(),
                table.createdMicros(),
                table.rules());
    }
}
