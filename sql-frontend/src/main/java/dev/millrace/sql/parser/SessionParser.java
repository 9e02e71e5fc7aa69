package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.TransactionModes;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.sql.SqlNode;

/** What is about the session: settings, transactions, prepared statements. */
final class SessionParser {
    private static final String SEARCH_PATH = "search_path";

    private final Words words;
    private final Optional<StatementParser> statements; // of what PREPARE names

    SessionParser(Words words, Optional<StatementParser> statements) {
        this.words = words;
        this.statements = statements;
    }

    // ---- settings --------------------------------------------------------------------------------------------------

    Syntax set() {
        words.expect("set");
        boolean local = words.accept("local");
        boolean session = !local && words.accept("session");
        if (words.acceptAll("characteristics", "as", "transaction")) {
            return new Syntax.Complete(new Statement.SetTransaction(modes(), true));
        }
        if (words.acceptAll("transaction")) {
            return new Syntax.Complete(new Statement.SetTransaction(modes(), false));
        }
        if (words.accept("role")) {
            return new Syntax.Complete(new Statement.SetRole(roleOr("none")));
        }
        if ((session || words.accept("session")) && words.accept("authorization")) {
            return new Syntax.Complete(new Statement.SetSessionAuthorization(roleOr("default")));
        }
        return new Syntax.Complete(setting(local));
    }

    /** {@code name = value}, with {@code SET} read already. */
    Statement.SetSetting setting(boolean local) {
        String name = words.acceptAll("time", "zone")
                ? "timezone"
                : words.acceptAll("names") ? "client_encoding" : isSchema() ? schema() : words.settingName();
        boolean named = words.acceptSymbol("=") || words.accept("to");
        boolean withoutSign = name.equals("timezone")
                || name.equals("client_encoding")
                || name.equals(SEARCH_PATH) && words.peek().kind() == Kind.STRING;
        if (!named && !withoutSign) {
            throw words.syntaxError();
        }
        if (words.accept("default") || name.equals("timezone") && words.accept("local")) {
            return new Statement.SetSetting(name, Optional.empty(), local);
        }
        List<String> values = new ArrayList<>();
        do {
            String value = words.optionValue();
            values.add(name.equals(SEARCH_PATH) ? Identifiers.quote(value) : value);
        } while (words.acceptComma());
        return new Statement.SetSetting(name, Optional.of(String.join(", ", values)), local);
    }

    /** {@code SET SCHEMA 'name'}, which is short for a search path of one. */
    private boolean isSchema() {
        return words.peek().isWord("schema") && words.peekAt(1).kind() == Kind.STRING;
    }

    private String schema() {
        words.next();
        return SEARCH_PATH;
    }

    private Optional<String> roleOr(String none) {
        if (!words.acceptSymbol("=")) {
            words.accept("to");
        }
        if (words.accept(none) || words.accept("default")) {
            return Optional.empty();
        }
        return Optional.of(words.peek().kind() == Kind.STRING ? words.string() : words.name());
    }

    Syntax reset() {
        words.expect("reset");
        if (words.accept("role")) {
            return new Syntax.Complete(new Statement.SetRole(Optional.empty()));
        }
        if (words.acceptAll("session", "authorization")) {
            return new Syntax.Complete(new Statement.SetSessionAuthorization(Optional.empty()));
        }
        if (words.acceptAll("time", "zone")) {
            return new Syntax.Complete(new Statement.ResetSetting(Optional.of("timezone")));
        }
        Optional<String> name = words.accept("all") ? Optional.empty() : Optional.of(words.settingName());
        return new Syntax.Complete(new Statement.ResetSetting(name));
    }

    /** With {@code ALTER SYSTEM} read already. */
    Syntax alterSystem() {
        if (words.accept("reset")) {
            Optional<String> name = words.accept("all") ? Optional.empty() : Optional.of(words.settingName());
            return new Syntax.Complete(new Statement.AlterSystem(name, Optional.empty()));
        }
        words.expect("set");
        Statement.SetSetting set = setting(false);
        return new Syntax.Complete(new Statement.AlterSystem(Optional.of(set.name()), set.value()));
    }

    // ---- transactions ----------------------------------------------------------------------------------------------

    Syntax transaction() {
        String head = words.next().text();
        if (head.equals("savepoint")) {
            return new Syntax.Complete(new Statement.Savepoint(words.name()));
        }
        if (head.equals("release")) {
            words.accept("savepoint");
            return new Syntax.Complete(new Statement.Release(words.name()));
        }
        if (head.equals("start")) {
            words.expect("transaction");
        } else if (!words.accept("work")) {
            words.accept("transaction");
        }
        return new Syntax.Complete(
                switch (head) {
                    case "begin", "start" -> new Statement.Begin(modes());
                    case "commit", "end" -> new Statement.Commit(chain());
                    default -> rollback();
                });
    }

    private Statement rollback() {
        if (words.accept("to")) {
            words.accept("savepoint");
            return new Statement.RollbackTo(words.name());
        }
        return new Statement.Rollback(chain());
    }

    private boolean chain() {
        if (!words.accept("and")) {
            return false;
        }
        boolean no = words.accept("no");
        words.expect("chain");
        return !no;
    }

    private TransactionModes modes() {
        Optional<String> isolation = Optional.empty();
        Optional<Boolean> readOnly = Optional.empty();
        Optional<Boolean> deferrable = Optional.empty();
        boolean more = !words.atEnd() && !words.peek().isSymbol(";");
        while (more) {
            if (words.acceptAll("isolation", "level")) {
                isolation = Optional.of(isolation());
            } else if (words.accept("read")) {
                readOnly = Optional.of(words.accept("only"));
                if (!readOnly.get()) {
                    words.expect("write");
                }
            } else if (words.accept("deferrable")) {
                deferrable = Optional.of(true);
            } else if (words.acceptAll("not", "deferrable")) {
                deferrable = Optional.of(false);
            } else {
                throw words.expected(List.of("isolation", "read", "deferrable"));
            }
            words.acceptComma();
            more = !words.atEnd() && !words.peek().isSymbol(";");
        }
        return new TransactionModes(isolation, readOnly, deferrable);
    }

    private String isolation() {
        for (String level : List.of("serializable", "repeatable read", "read committed", "read uncommitted")) {
            if (words.acceptAll(level.split(" "))) {
                return level;
            }
        }
        throw words.expected(List.of("serializable", "repeatable", "read"));
    }

    // ---- prepared statements ---------------------------------------------------------------------------------------

    Syntax prepare() {
        words.expect("prepare");
        String name = words.name();
        List<TypeSpec> types = new ArrayList<>();
        if (words.acceptSymbol("(")) {
            do {
                types.add(words.type());
            } while (words.acceptComma());
            words.expectSymbol(")");
        }
        words.expect("as");
        int first = words.place();
        Syntax statement = statements.orElseThrow().statement();
        if (!(statement instanceof Syntax.Select || statement.changesRows() || statement instanceof Syntax.Subscribe)) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            "PREPARE takes SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES or SUBSCRIBE")
                    .at(words.startOf(first) + 1);
        }
        return new Syntax.Prepare(
                name, types, statement, words.startOf(first), words.endFrom(first), words.highestParameter(first));
    }

    Syntax execute() {
        words.expect("execute");
        String name = words.name();
        List<SqlNode> arguments = new ArrayList<>();
        if (words.acceptSymbol("(")) {
            if (!words.peek().isSymbol(")")) {
                do {
                    arguments.add(words.expression());
                } while (words.acceptComma());
            }
            words.expectSymbol(")");
        }
        return new Syntax.ExecutePrepared(name, arguments);
    }

    Syntax deallocate() {
        words.expect("deallocate");
        words.accept("prepare");
        Optional<String> name = words.accept("all") ? Optional.empty() : Optional.of(words.name());
        return new Syntax.Complete(new Statement.Deallocate(name));
    }

    Syntax discard() {
        words.expect("discard");
        for (String what : List.of("all", "plans", "sequences", "temp", "temporary")) {
            if (words.accept(what)) {
                return new Syntax.Complete(new Statement.Discard(what.toUpperCase(Locale.ROOT)));
            }
        }
        throw words.expected(List.of("all", "plans", "sequences", "temp"));
    }

    /** LISTEN and NOTIFY are PostgreSQL's way to learn of changes. */
    Syntax listen() {
        int position = words.peek().start() + 1;
        String head = words.next().text();
        words.restOfStatement();
        if (head.equals("unlisten")) {
            return new Syntax.Complete(new Statement.Unlisten());
        }
        throw MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED, head.toUpperCase(Locale.ROOT) + " is not supported")
                .withHint("SUBSCRIBE TO a query, view or stream gives its changes as they come")
                .at(position);
    }

    /** LOCK TABLE in a mode that statements take anyway has nothing to hold off; one that is to hold off others is refused. */
    Syntax lock() {
        int position = words.next().start() + 1;
        words.accept("table");
        List<String> relations = new ArrayList<>();
        do {
            words.accept("only");
            relations.add(words.relationName());
            words.acceptSymbol("*");
        } while (words.acceptComma());
        boolean passes = words.acceptAll("in", "access", "share", "mode")
                || words.acceptAll("in", "row", "share", "mode")
                || words.acceptAll("in", "row", "exclusive", "mode");
        if (!passes) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "LOCK is not supported")
                    .withHint("a transaction holds the rows that it changed; the others it reads as they are")
                    .at(position);
        }
        words.accept("nowait");
        return new Syntax.Complete(new Statement.NoOperation("LOCK TABLE", relations, Optional.empty()));
    }
}
