package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.NamedText;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.statement.SchemaStatement.CreateSchema;
import dev.millrace.sql.statement.Statement.TransactionModes;
import dev.millrace.sql.text.Identifiers;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * CREATE SCHEMA with what is in it: as its owner, the schema first in the search path, in the transaction under way or in one of its own. All of it or nothing is made. Belongs to
 * the session's thread.
 */
final class SchemaElements {
    private final Instance database;
    private final SessionSettings settings;
    private final Transactions transactions;
    private final Identity identity;
    private final Function<ParsedStatement, StatementResult> execution;

    SchemaElements(
            Instance database,
            SessionSettings settings,
            Transactions transactions,
            Identity identity,
            Function<ParsedStatement, StatementResult> execution) {
        this.database = database;
        this.settings = settings;
        this.transactions = transactions;
        this.identity = identity;
        this.execution = execution;
    }

    /** @param makes the schema itself */
    Command create(CreateSchema create, Runnable makes) {
        boolean isOwn = !transactions.isExplicit();
        if (isOwn) {
            transactions.begin(new TransactionModes(Optional.empty(), Optional.empty(), Optional.empty()));
        }
        try {
            makes.run();
            makeElements(create);
        } catch (RuntimeException | Error e) {
            if (isOwn) {
                transactions.rollback(false);
            }
            throw e;
        }
        if (isOwn) {
            transactions.commit(false);
        }
        return Command.of("CREATE SCHEMA");
    }

    private void makeElements(CreateSchema create) {
        String role = identity.current();
        String owner = create.owner().map(identity::named).orElse(role);
        String schema = create.name().orElse(owner);
        String path = settings.get(Setting.SEARCH_PATH);
        settings.setLocal(Setting.SEARCH_PATH, Identifiers.quote(schema) + ", " + path);
        try {
            if (!owner.equals(role)) {
                identity.setRole(owner);
            }
            for (String element : create.elements()) {
                ParsedStatement parsed = database.frontend().parse(element).get(0);
                requireIn(schema, parsed);
                execution.apply(parsed).close();
            }
        } catch (MillraceException e) {
            throw e.at(0); // a place in another text
        } finally {
            if (role.equals(identity.session())) {
                identity.resetRole();
            } else {
                identity.setRole(role);
            }
        }
        settings.setLocal(Setting.SEARCH_PATH, path);
    }

    private static void requireIn(String schema, ParsedStatement element) {
        Optional<List<String>> name = new NamedText(element).newName();
        Optional<String> other = name.filter(parts -> parts.size() > 1)
                .map(parts -> parts.get(parts.size() - 2))
                .filter(in -> !in.equals(schema));
        if (other.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_SCHEMA_DEFINITION,
                    "CREATE specifies a schema (" + other.get() + ") different from the one being created (" + schema
                            + ")");
        }
    }
}
