package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.MergeClause;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWithItem;

/** MERGE, behind its first word. */
final class MergeParser {
    private final Words words;
    private final ChangeParser changes;

    /** @param changes reads what MERGE has in common with other statements */
    MergeParser(Words words, ChangeParser changes) {
        this.words = words;
        this.changes = changes;
    }

    Syntax merge(List<SqlNode> with) {
        words.expect("into");
        words.accept("only");
        SqlIdentifier relation = words.identifier();
        Optional<SqlIdentifier> alias = changes.alias("using");
        if (with.stream().anyMatch(node -> ((SqlWithItem) node).recursive.booleanValue())) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED, "WITH RECURSIVE is not supported for MERGE statement")
                    .withHint("CREATE TEMP TABLE .. AS WITH RECURSIVE .. before it");
        }
        words.expect("using");
        SqlNode source = words.fromClause();
        words.expect("on");
        SqlNode condition = words.expression();
        List<MergeClause> clauses = new ArrayList<>();
        while (words.peek().isWord("when")) {
            clauses.add(clause());
        }
        if (clauses.isEmpty()) {
            throw words.expected(List.of("when"));
        }
        return new Syntax.Merge(relation, alias, source, condition, clauses, changes.returning(), with);
    }

    private MergeClause clause() {
        int position = words.next().start() + 1;
        MergeClause.Match match = match();
        Optional<SqlNode> condition = words.accept("and") ? Optional.of(words.expression()) : Optional.empty();
        words.expect("then");
        Lexeme verb = words.next();
        boolean inserts = match == MergeClause.Match.NOT_MATCHED;
        return switch (verb.text()) {
            case "do" -> {
                words.expect("nothing");
                yield new MergeClause(match, condition, new MergeClause.Nothing(), position);
            }
            case "update" -> {
                requireRow(!inserts, verb, "UPDATE");
                words.expect("set");
                yield new MergeClause(match, condition, new MergeClause.Update(changes.assignments()), position);
            }
            case "delete" -> {
                requireRow(!inserts, verb, "DELETE");
                yield new MergeClause(match, condition, new MergeClause.Delete(), position);
            }
            case "insert" -> {
                requireRow(inserts, verb, "INSERT");
                yield new MergeClause(match, condition, insert(), position);
            }
            default -> throw words.syntaxError();
        };
    }

    private MergeClause.Match match() {
        if (words.accept("matched")) {
            return MergeClause.Match.MATCHED;
        }
        words.expect("not");
        words.expect("matched");
        if (words.accept("by")) {
            if (words.accept("source")) {
                return MergeClause.Match.NOT_MATCHED_BY_SOURCE;
            }
            words.expect("target");
        }
        return MergeClause.Match.NOT_MATCHED;
    }

    private static void requireRow(boolean right, Lexeme verb, String what) {
        if (!right) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            what.equals("INSERT")
                                    ? "INSERT is for WHEN NOT MATCHED: there is a row of the table already"
                                    : what + " needs a row of the table, and WHEN NOT MATCHED has none")
                    .at(verb.start() + 1)
                    .withHint("WHEN MATCHED takes UPDATE and DELETE, WHEN NOT MATCHED takes INSERT, both DO NOTHING");
        }
    }

    private MergeClause.Insert insert() {
        List<SqlIdentifier> columns = words.optionalColumns();
        Syntax.Overriding overriding = changes.overriding();
        if (words.acceptAll("default", "values")) {
            return new MergeClause.Insert(columns, overriding, List.of());
        }
        words.expect("values");
        words.expectSymbol("(");
        List<SqlNode> values = new ArrayList<>();
        do {
            values.add(changes.value());
        } while (words.acceptComma());
        words.expectSymbol(")");
        return new MergeClause.Insert(columns, overriding, values);
    }
}
