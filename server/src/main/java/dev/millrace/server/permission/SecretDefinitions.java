package dev.millrace.server.permission;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.secret.Secrets;
import dev.millrace.sql.statement.SecretStatement;
import dev.millrace.sql.statement.SecretStatement.AlterSecret;
import dev.millrace.sql.statement.SecretStatement.CreateSecret;
import dev.millrace.sql.statement.SecretStatement.DropSecret;
import java.util.List;
import java.util.function.Consumer;

/** CREATE, ALTER and DROP SECRET, by superusers. Belongs to the session's thread. */
public final class SecretDefinitions {
    private final Instance database;
    private final Consumer<String> notices;
    private final Identity identity;

    public SecretDefinitions(Instance database, Consumer<String> notices, Identity identity) {
        this.database = database;
        this.notices = notices;
        this.identity = identity;
    }

    public Command execute(SecretStatement statement) {
        if (!identity.isSuperuser()) {
            throw MillraceException.user(SqlState.INSUFFICIENT_PRIVILEGE, "must be superuser to make or drop secrets");
        }
        database.lockDefinitions();
        try {
            if (statement instanceof CreateSecret create) {
                return create(create);
            }
            return statement instanceof AlterSecret alter ? alter(alter) : drop((DropSecret) statement);
        } finally {
            database.definitionLock().unlock();
        }
    }

    private Command create(CreateSecret create) {
        Secrets secrets = database.secrets();
        boolean exists = secrets.names().contains(create.name());
        Command created = Command.of("CREATE SECRET");
        if (exists) {
            switch (create.ifExists()) {
                case FAIL ->
                    throw MillraceException.user(
                            SqlState.DUPLICATE_OBJECT, "secret \"" + create.name() + "\" already exists");
                case SKIP -> {
                    notices.accept("secret \"" + create.name() + "\" already exists, skipping");
                    return created;
                }
                case REPLACE -> {}
            }
        }
        secrets.put(create.name(), create.secret().text());
        database.keepEndsOfLogs();
        return created;
    }

    private Command alter(AlterSecret alter) {
        require(alter.name());
        database.secrets().put(alter.name(), alter.secret().text());
        database.keepEndsOfLogs();
        return Command.of("ALTER SECRET");
    }

    private void require(String name) {
        if (!database.secrets().names().contains(name)) {
            throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "secret \"" + name + "\" does not exist");
        }
    }

    private Command drop(DropSecret drop) {
        Command dropped = Command.of("DROP SECRET");
        if (!database.secrets().names().contains(drop.name())) {
            if (!drop.ifExists()) {
                require(drop.name());
            }
            database.secrets().settle();
            notices.accept("secret \"" + drop.name() + "\" does not exist, skipping");
            return dropped;
        }
        List<String> users = database.secrets().users(drop.name(), database.catalog());
        if (!users.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot drop secret \"" + drop.name() + "\" because " + String.join(", ", users)
                                    + " refer to it")
                    .withHint("CREATE OR REPLACE SECRET gives it another text, for clients that connect from then on");
        }
        database.secrets().remove(drop.name());
        database.keepEndsOfLogs();
        return dropped;
    }
}
