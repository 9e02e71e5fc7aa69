package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ExplainForm;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** EXPLAIN, with our options and PostgreSQL's. */
final class ExplainParser {
    /** Options of EXPLAIN that are on or off; all but ANALYZE are about what there is none of. */
    private static final Set<String> SWITCHES =
            Set.of("analyze", "analyse", "costs", "settings", "generic_plan", "buffers", "wal", "timing", "summary");

    private final Words words;
    private final StatementParser statements;

    ExplainParser(Words words, StatementParser statements) {
        this.words = words;
        this.statements = statements;
    }

    Syntax explain() {
        words.expect("explain");
        Set<ExplainForm> forms = EnumSet.noneOf(ExplainForm.class);
        boolean analyze = words.accept("analyze");
        boolean options = words.peek().isSymbol("(")
                && !words.peekAt(1).isSymbol("(")
                && !ChangeParser.beginsQuery(words.peekAt(1));
        if (options) {
            words.next();
            do {
                analyze |= option(forms);
            } while (words.acceptComma());
            words.expectSymbol(")");
        } else if (analyze) {
            words.accept("verbose");
        } else {
            for (ExplainForm form : ExplainForm.values()) {
                if (words.accept(form.name().toLowerCase(Locale.ROOT))) {
                    forms.add(form);
                }
            }
        }
        if (analyze) {
            if (words.peek().isWord("continuous") || words.peek().isWord("materialized")) {
                ObjectKind kind = words.objectKind();
                return new Syntax.Complete(new Statement.ExplainRunning(kind, words.relationName()));
            }
            return new Syntax.ExplainAnalyze(statements.statement());
        }
        Syntax explained = statements.statement();
        return new Syntax.Explain(forms, explained instanceof Syntax.Insert insert ? insert.asQuery() : explained);
    }

    /** An option in parentheses; returns whether it asks for ANALYZE. What PostgreSQL shows of costs and buffers is not there to be shown. */
    private boolean option(Set<ExplainForm> forms) {
        Lexeme option = words.peek();
        if (words.accept("format")) {
            words.expect("text");
            return false;
        }
        boolean known = option.kind() == Kind.WORD && SWITCHES.contains(option.text());
        if (!known && !option.isWord("verbose")) {
            forms.add(words.oneOf(ExplainForm.class, "explain option"));
            return false;
        }
        words.next();
        boolean on = words.peek().isSymbol(",") || words.peek().isSymbol(")") || isOn(words.optionValue(), option);
        if (on && option.isWord("verbose")) {
            forms.add(ExplainForm.VERBOSE);
        }
        return on && (option.isWord("analyze") || option.isWord("analyse"));
    }

    private static boolean isOn(String value, Lexeme option) {
        return switch (value) {
            case "on", "true", "1" -> true;
            case "off", "false", "0" -> false;
            default ->
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                option.text() + " takes on or off, not \"" + value + "\"")
                        .at(option.start() + 1);
        };
    }
}
