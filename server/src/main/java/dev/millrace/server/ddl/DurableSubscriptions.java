package dev.millrace.server.ddl;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.statement.SubscriptionStatement.AlterSubscription;
import dev.millrace.sql.statement.SubscriptionStatement.CreateSubscription;
import dev.millrace.sql.statement.SubscriptionStatement.DropSubscription;
import java.util.function.Consumer;

/** CREATE, ALTER and DROP SUBSCRIPTION. Belongs to the session's thread. */
public final class DurableSubscriptions {
    private final Instance database;
    private final SessionSettings settings;
    private final Consumer<String> notices;
    private final Permissions permissions;
    private final Identity identity;

    public DurableSubscriptions(
            Instance database,
            SessionSettings settings,
            Consumer<String> notices,
            Permissions permissions,
            Identity identity) {
        this.database = database;
        this.settings = settings;
        this.notices = notices;
        this.permissions = permissions;
        this.identity = identity;
    }

    public Command execute(SubscriptionStatement statement) {
        if (statement instanceof AlterSubscription alter) {
            requireOwner(alter.name());
            database.histories().acknowledge(alter.name(), alter.micros());
            return Command.of("ALTER SUBSCRIPTION");
        }
        database.lockDefinitions();
        try {
            return statement instanceof CreateSubscription create ? create(create) : drop((DropSubscription) statement);
        } finally {
            database.catalog().subscriptionsChanged();
            database.definitionLock().unlock();
        }
    }

    private void requireOwner(String name) {
        permissions.requireSubscription(name, database.histories().owner(name));
    }

    private Command create(CreateSubscription create) {
        String name = create.name();
        if (database.histories().queryOf(name).isPresent() && create.ifNotExists()) {
            notices.accept("subscription \"" + name + "\" already exists, skipping");
            return Command.of("CREATE SUBSCRIPTION");
        }
        if (database.histories().queryOf(name).isPresent()
                || database.catalog().relation(name).isPresent()) {
            String kind = database.histories().queryOf(name).isPresent() ? "subscription" : "relation";
            throw MillraceException.user(SqlState.DUPLICATE_OBJECT, kind + " \"" + name + "\" already exists");
        }
        CatalogObject object = database.catalog()
                .object(create.query())
                .orElseThrow(() -> DatabaseCatalog.undefined(
                        "relation", create.query(), database.catalog().relationNames()));
        StandingQuery query = database.standing(object.name()).orElseThrow(() -> unfit(object));
        if (!query.materialized()) {
            throw unfit(object);
        }
        database.histories()
                .create(
                        name,
                        identity.current(),
                        query,
                        create.limitBytes().orElseGet(() -> settings.bytes(Setting.SUBSCRIPTION_LIMIT)));
        create.retention()
                .ifPresent(time -> notices.accept("changes are kept until they are acknowledged, not for " + time
                        + ", up to the limit in bytes"));
        return Command.of("CREATE SUBSCRIPTION");
    }

    private static MillraceException unfit(CatalogObject object) {
        return MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "a subscription cannot be to " + object.kind().sqlName() + " \"" + object.name()
                                + "\": only a view keeps the answer that tells what is new after a restart")
                .withHint("CREATE MATERIALIZED VIEW v AS SELECT ..; CREATE SUBSCRIPTION s FROM v");
    }

    private Command drop(DropSubscription drop) {
        if (drop.ifExists() && database.histories().queryOf(drop.name()).isEmpty()) {
            notices.accept("subscription \"" + drop.name() + "\" does not exist, skipping");
        } else {
            requireOwner(drop.name());
            database.histories().drop(drop.name());
        }
        return Command.of("DROP SUBSCRIPTION");
    }
}
