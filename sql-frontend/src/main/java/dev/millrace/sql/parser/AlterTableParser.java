package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.AlterTable.Action;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The actions of ALTER TABLE, behind its name. */
final class AlterTableParser {
    private final Words words;

    AlterTableParser(Words words) {
        this.words = words;
    }

    /** Whether what follows is an action on columns or constraints. */
    boolean isNext() {
        Lexeme verb = words.peek();
        return verb.isWord("add") || verb.isWord("drop") || verb.isWord("rename") || verb.isWord("alter");
    }

    Syntax actions(String name, boolean ifExists) {
        List<Action> actions = new ArrayList<>();
        do {
            actions.add(action());
        } while (words.acceptComma());
        return new Syntax.Complete(new AlterTable(name, ifExists, actions));
    }

    private Action action() {
        if (words.accept("add")) {
            return add();
        } else if (words.accept("drop")) {
            return drop();
        } else if (words.accept("rename")) {
            return rename();
        } else if (words.accept("alter")) {
            words.accept("column");
            return alter();
        }
        throw words.expected(List.of("add", "drop", "rename", "alter"));
    }

    private Action add() {
        Lexeme next = words.peek();
        boolean constraint = next.isWord("constraint")
                || next.isWord("check")
                || next.isWord("primary")
                || next.isWord("unique")
                || next.isWord("foreign")
                || next.isWord("exclude");
        boolean column = words.accept("column");
        if (constraint && !column) {
            int first = words.place();
            new TableParser(words).element();
            return new AlterTable.AddConstraint(words.textFrom(first));
        }
        boolean ifNotExists = words.acceptAll("if", "not", "exists");
        int first = words.place();
        String name = words.copy().name();
        new TableParser(words).element();
        return new AlterTable.AddColumn(name, ifNotExists, words.textFrom(first));
    }

    private Action drop() {
        if (words.accept("constraint")) {
            boolean ifExists = words.acceptAll("if", "exists");
            return new AlterTable.DropConstraint(words.name(), ifExists, cascades());
        }
        words.accept("column");
        boolean ifExists = words.acceptAll("if", "exists");
        return new AlterTable.DropColumn(words.name(), ifExists, cascades());
    }

    private boolean cascades() {
        boolean cascade = words.accept("cascade");
        if (!cascade) {
            words.accept("restrict");
        }
        return cascade;
    }

    private Action rename() {
        Lexeme word = words.peek();
        if (words.accept("constraint")) {
            String constraint = words.name();
            words.expect("to");
            return new AlterTable.RenameConstraint(constraint, words.name());
        }
        if (word.isWord("to")) { // alone it is read elsewhere
            throw words.syntaxError();
        }
        words.accept("column");
        String column = words.name();
        words.expect("to");
        return new AlterTable.RenameColumn(column, words.name());
    }

    private Action alter() {
        String column = words.name();
        if (words.acceptAll("set", "not", "null")) {
            return new AlterTable.SetNotNull(column, true);
        } else if (words.acceptAll("drop", "not", "null")) {
            return new AlterTable.SetNotNull(column, false);
        } else if (words.acceptAll("drop", "default")) {
            return new AlterTable.SetDefault(column, Optional.empty());
        } else if (words.acceptAll("set", "default")) {
            return new AlterTable.SetDefault(column, Optional.of(expression()));
        } else if (words.accept("restart")) {
            return new AlterTable.Restart(column, words.accept("with") ? restart() : 1);
        }
        words.acceptAll("set", "data");
        Lexeme word = words.peek();
        if (!words.accept("type")) {
            throw MillraceException.notAvailableYet("this ALTER COLUMN")
                    .at(word.start() + 1)
                    .withHint(
                            "SET DEFAULT, DROP DEFAULT, SET NOT NULL, DROP NOT NULL, RESTART and TYPE .. USING are there");
        }
        int first = words.place();
        words.type();
        String type = words.textFrom(first);
        return new AlterTable.SetType(
                column, type, words.accept("using") ? Optional.of(expression()) : Optional.empty());
    }

    private long restart() {
        Lexeme number = words.next();
        try {
            long next = Long.parseLong(number.text());
            if (next >= 1) {
                return next;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "RESTART WITH takes a whole number from 1 on, not " + number.text())
                .at(number.start() + 1);
    }

    private String expression() {
        int first = words.place();
        words.expression();
        return words.textFrom(first);
    }
}
