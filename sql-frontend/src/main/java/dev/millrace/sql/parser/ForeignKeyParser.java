package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.ForeignKey.Action;
import dev.millrace.sql.catalog.ForeignKey.Timing;
import dev.millrace.sql.text.Lexeme;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;

/** REFERENCES of a column or a table, and what stands behind it. */
final class ForeignKeyParser {
    private final Words words;

    ForeignKeyParser(Words words) {
        this.words = words;
    }

    /** FOREIGN KEY, up to its end. */
    ForeignKey ofTable(Optional<String> name) {
        words.expect("foreign");
        words.expect("key");
        List<SqlIdentifier> columns = words.optionalColumns();
        if (columns.isEmpty()) {
            throw words.syntaxError();
        }
        return references(name, names(columns));
    }

    /** The same of REFERENCES, which is next. */
    ForeignKey references(Optional<String> name, List<String> columns) {
        words.expect("references");
        String table = words.relationName();
        List<String> referenced = names(words.optionalColumns());
        boolean full = words.acceptAll("match", "full");
        Lexeme match = words.peek();
        if (!full && words.acceptAll("match", "partial")) {
            throw MillraceException.notAvailableYet("MATCH PARTIAL")
                    .at(match.start() + 1)
                    .withHint("MATCH SIMPLE, and MATCH FULL");
        } else if (!full) {
            words.acceptAll("match", "simple");
        }
        Action onDelete = Action.NO_ACTION;
        Action onUpdate = Action.NO_ACTION;
        while (words.peek().isWord("on")
                && (words.peekAt(1).isWord("delete") || words.peekAt(1).isWord("update"))) {
            words.next();
            boolean ofDelete = words.next().isWord("delete");
            Action action = action();
            onDelete = ofDelete ? action : onDelete;
            onUpdate = ofDelete ? onUpdate : action;
        }
        return new ForeignKey(name.orElse(""), columns, table, referenced, onDelete, onUpdate, full, timing());
    }

    private static List<String> names(List<SqlIdentifier> columns) {
        return columns.stream().map(SqlIdentifier::getSimple).toList();
    }

    private Action action() {
        if (words.acceptAll("no", "action")) {
            return Action.NO_ACTION;
        } else if (words.accept("restrict")) {
            return Action.RESTRICT;
        } else if (words.accept("cascade")) {
            return Action.CASCADE;
        }
        words.expect("set");
        boolean toNull = words.accept("null");
        if (!toNull) {
            words.expect("default");
        }
        if (words.peek().isSymbol("(")) {
            throw MillraceException.notAvailableYet("SET NULL or SET DEFAULT of some columns")
                    .at(words.peek().start() + 1)
                    .withHint("without a list it is all columns of the foreign key");
        }
        return toNull ? Action.SET_NULL : Action.SET_DEFAULT;
    }

    private Timing timing() {
        boolean deferrable = false;
        boolean not = false;
        boolean deferred = false;
        int start = words.peek().start() + 1;
        while (true) {
            Lexeme word = words.peek();
            if (words.acceptAll("not", "deferrable")) {
                not = true;
            } else if (words.accept("deferrable")) {
                deferrable = true;
            } else if (words.acceptAll("initially", "deferred")) {
                deferred = true;
            } else if (words.acceptAll("not", "valid")) {
                throw MillraceException.notAvailableYet("NOT VALID")
                        .at(word.start() + 1)
                        .withHint("leave it out: rows that are there are checked at once");
            } else if (!words.acceptAll("initially", "immediate")) {
                break;
            }
        }
        if (not && (deferrable || deferred)) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            deferred
                                    ? "constraint declared INITIALLY DEFERRED must be DEFERRABLE"
                                    : "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed")
                    .at(start);
        }
        return deferred ? Timing.DEFERRED : deferrable ? Timing.DEFERRABLE : Timing.NOT_DEFERRABLE;
    }
}
