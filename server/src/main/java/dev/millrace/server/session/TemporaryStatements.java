package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.names.TemporaryRelations;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Statements of one session that make temporary relations, in the names that these have in the catalog. Belongs to the session's thread. */
final class TemporaryStatements {
    private final TemporaryRelations relations;
    private final Consumer<Statement.Drop> drops;
    private final Consumer<String> notices;
    private final BooleanSupplier restores;

    /**
     * @param drops executes a statement
     * @param restores whether the database is being opened
     */
    TemporaryStatements(
            TemporaryRelations relations,
            Consumer<Statement.Drop> drops,
            Consumer<String> notices,
            BooleanSupplier restores) {
        this.restores = restores;
        this.relations = relations;
        this.drops = drops;
        this.notices = notices;
    }

    /** The statement with the names in the catalog of the temporary relations that it makes. */
    Statement named(Statement statement) {
        requireUsersName(statement);
        if (statement instanceof Statement.CreateTable create && RelationNames.isTemporary(create.name())) {
            requireNoConnector(create);
            String name = relations.nameNew(create.name());
            return new Statement.CreateTable(
                    name,
                    create.ifExists(),
                    create.columns(),
                    create.primaryKey(),
                    create.rules()
                            .withForeignKeys(create.rules().foreignKeys().stream()
                                    .map(key -> key.table().equals(create.name()) ? key.withTable(name) : key)
                                    .toList()),
                    create.watermark(),
                    create.options());
        } else if (statement instanceof Statement.CreateTableAs create && RelationNames.isTemporary(create.name())) {
            return new Statement.CreateTableAs(
                    relations.nameNew(create.name()),
                    create.ifExists(),
                    create.query(),
                    create.withData(),
                    create.options());
        } else if (statement instanceof Statement.CreateView create) {
            return view(create);
        }
        if (relations.areUsed()) {
            requireLasting(statement);
        }
        return statement;
    }

    /** At the next opening what has such a name is dropped. */
    private void requireUsersName(Statement statement) {
        boolean taken = statement instanceof Statement.CreateTable table && RelationNames.isOfSession(table.name())
                || statement instanceof Statement.CreateTableAs made && RelationNames.isOfSession(made.name())
                || statement instanceof Statement.CreateView view && RelationNames.isOfSession(view.name());
        if (taken && !restores.getAsBoolean()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "names that begin with pg_temp_ and have a point are those of temporary relations")
                    .withHint("CREATE TEMP TABLE, or another name");
        }
    }

    private static void requireNoConnector(Statement.CreateTable create) {
        if (create.options().containsKey("connector")) {
            throw MillraceException.notAvailableYet("a temporary table that a connector feeds")
                    .withHint("CREATE TABLE, and DROP it behind its use");
        }
    }

    /** A view over temporary relations is one itself, as in PostgreSQL. */
    private Statement view(Statement.CreateView create) {
        boolean temporary = RelationNames.isTemporary(create.name());
        if (!temporary && !reads(create.query())) {
            return create;
        }
        if (!temporary) {
            notices.accept("view \"" + create.name() + "\" will be a temporary view");
        }
        return new Statement.CreateView(
                relations.nameNew(create.name()), create.ifExists(), create.query(), create.queryText());
    }

    private static boolean reads(Query query) {
        return query.named().stream().anyMatch(RelationNames::isOfSession);
    }

    /** What lasts reads nothing that does not. */
    private static void requireLasting(Statement statement) {
        Optional<Query> query = Optional.empty();
        if (statement instanceof Statement.CreateMaterializedView create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateStreamAs create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.CreateSink create) {
            query = Optional.of(create.query());
        } else if (statement instanceof Statement.AlterQuery alter) {
            query = Optional.of(alter.query());
        }
        if (query.filter(TemporaryStatements::reads).isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "what is kept current must not read temporary tables or views")
                    .withHint("CREATE TABLE, and DROP it behind its use");
        }
    }

    /** The text that makes the same again, under the name in the catalog. */
    String definition(Statement statement, String text) {
        Optional<String> name = Optional.empty();
        IfExists ifExists = IfExists.FAIL;
        if (statement instanceof Statement.CreateTable create) {
            name = Optional.of(create.name());
        } else if (statement instanceof Statement.CreateView create) {
            name = Optional.of(create.name());
            ifExists = create.ifExists();
        }
        if (name.filter(RelationNames::isOfSession).isEmpty()) {
            return text;
        }
        List<Lexeme> lexemes = Lexer.tokens(text);
        int at = 0;
        while (!lexemes.get(at).isWord("table") && !lexemes.get(at).isWord("view")) {
            at++;
        }
        String kind = lexemes.get(at).text();
        at += lexemes.get(at + 1).isWord("if") ? 4 : 1; // IF NOT EXISTS
        if (lexemes.get(at + 1).isSymbol(".")) {
            at += 2;
        }
        String create = ifExists == IfExists.REPLACE ? "CREATE OR REPLACE " : "CREATE ";
        return create + kind.toUpperCase(Locale.ROOT) + " " + Identifiers.quote(name.get()) + " "
                + withoutCommit(text.substring(lexemes.get(at).end()).strip());
    }

    private static String withoutCommit(String rest) {
        return rest.replaceAll("(?is)\\bon\\s+commit\\s+preserve\\s+rows\\s*$", "");
    }

    /** Drops all there are. */
    void dropAll() {
        for (ObjectKind kind : List.of(ObjectKind.VIEW, ObjectKind.TABLE)) {
            List<String> names = relations.all(kind);
            if (!names.isEmpty()) {
                drops.accept(new Statement.Drop(kind, names, true, true));
            }
        }
    }
}
