package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Movement;
import dev.millrace.sql.statement.Movement.Direction;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnSlow;
import dev.millrace.sql.syntax.PlainSelect;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.type.DataType;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** What reads rows, and COPY: SELECT, SUBSCRIBE, cursors. */
final class RowsParser {
    /** A size with or without its unit. */
    private static final Pattern BYTES = Pattern.compile("([0-9]{1,9})\\s*(|kB|MB|GB)", Pattern.CASE_INSENSITIVE);

    private final Words words;
    private final StatementParser statements;

    RowsParser(Words words, StatementParser statements) {
        this.words = words;
        this.statements = statements;
    }

    Syntax select() {
        Syntax.QueryText query = StatementParser.queryText(words);
        return new Syntax.Select(query, words.optionalOptions());
    }

    // ---- SUBSCRIBE and cursors -------------------------------------------------------------------------------------

    Syntax subscribe() {
        words.expect("subscribe");
        words.accept("to");
        Optional<SqlIdentifier> relation = Optional.empty();
        Syntax.QueryText query;
        if (words.peek().isSymbol("(")) {
            words.next();
            query = StatementParser.queryText(words);
            words.expectSymbol(")");
        } else if (words.peek().isWord("select")
                || words.peek().isWord("with")
                || words.peek().isWord("values")) {
            query = StatementParser.queryText(words);
        } else {
            relation = Optional.of(words.identifier());
            query = StatementParser.allOf(relation.get());
        }
        Optional<SqlNode> asOf = asOf();
        boolean snapshot = false;
        boolean progress = false;
        Optional<OnSlow> onSlow = Optional.empty();
        OptionalLong bufferBytes = OptionalLong.empty();
        for (Map.Entry<String, String> option : words.optionalOptions().entrySet()) {
            boolean value =
                    !option.getValue().equals("false") && !option.getValue().equals("off");
            switch (option.getKey()) {
                case "snapshot" -> snapshot = value;
                case "progress" -> progress = value;
                case "on_slow" -> onSlow = Optional.of(onSlow(option.getValue()));
                case "buffer" -> bufferBytes = OptionalLong.of(bytes("buffer", option.getValue()));
                default ->
                    throw MillraceException.user(
                                    SqlState.INVALID_PARAMETER_VALUE,
                                    "option \"" + option.getKey() + "\" does not exist")
                            .withHint("options of SUBSCRIBE are: snapshot, progress, on_slow, buffer");
            }
        }
        if (asOf.isEmpty()) {
            asOf = asOf();
        }
        return new Syntax.Subscribe(relation, query, snapshot, progress, asOf, onSlow, bufferBytes);
    }

    private static OnSlow onSlow(String text) {
        for (OnSlow known : OnSlow.values()) {
            if (known.name().equalsIgnoreCase(text)) {
                return known;
            }
        }
        throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"on_slow\" cannot be \"" + text + "\"")
                .withHint("block, drop_oldest or disconnect");
    }

    /** {@code 64MB}, or a number of bytes. */
    static long bytes(String option, String text) {
        Matcher matcher = BYTES.matcher(text);
        if (matcher.matches()) {
            int shift =
                    10 * List.of("", "kb", "mb", "gb").indexOf(matcher.group(2).toLowerCase(Locale.ROOT));
            long bytes = Long.parseLong(matcher.group(1)) << shift;
            if (bytes > 0) {
                return bytes;
            }
        }
        throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "option \"" + option + "\" cannot be \"" + text + "\"")
                .withHint("a size such as '64MB'");
    }

    private Optional<SqlNode> asOf() {
        return words.acceptAll("as", "of") ? Optional.of(words.expression()) : Optional.empty();
    }

    Syntax declare() {
        words.expect("declare");
        String name = words.name();
        Optional<Boolean> scroll = Optional.empty();
        boolean more = true;
        while (more) {
            if (words.accept("scroll")) {
                scroll = Optional.of(true);
            } else if (words.acceptAll("no", "scroll")) {
                scroll = Optional.of(false);
            } else {
                more = words.accept("binary") || words.accept("insensitive") || words.accept("asensitive");
            }
        }
        words.expect("cursor");
        boolean hold = words.acceptAll("with", "hold");
        if (!hold) {
            words.acceptAll("without", "hold");
        }
        words.expect("for");
        Syntax source = statements.statement();
        if (!(source instanceof Syntax.Select || source instanceof Syntax.Subscribe)) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "a cursor is for SELECT or SUBSCRIBE");
        }
        return new Syntax.DeclareCursor(name, source, scroll, hold);
    }

    Syntax fetch() {
        boolean move = words.next().isWord("move");
        Movement movement = movement();
        if (!words.accept("from")) {
            words.accept("in");
        }
        String cursor = words.name();
        OptionalLong timeout = OptionalLong.empty();
        for (Map.Entry<String, String> option : words.optionalOptions().entrySet()) {
            if (!option.getKey().equals("timeout")) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE, "option \"" + option.getKey() + "\" does not exist")
                        .withHint("the option of FETCH is: timeout");
            }
            timeout = OptionalLong.of(timeoutMicros(option.getValue()));
        }
        return new Syntax.Complete(new Statement.Fetch(cursor, movement, timeout, move));
    }

    /** A direction with or without a number, a number, ALL, or nothing, which is NEXT. */
    private Movement movement() {
        if (acceptDirection("next")) {
            return Movement.forward(1);
        } else if (acceptDirection("prior")) {
            return new Movement(Direction.BACKWARD, 1);
        } else if (acceptDirection("first")) {
            return new Movement(Direction.ABSOLUTE, 1);
        } else if (acceptDirection("last")) {
            return new Movement(Direction.ABSOLUTE, -1);
        } else if (acceptDirection("absolute")) {
            return new Movement(Direction.ABSOLUTE, number());
        } else if (acceptDirection("relative")) {
            return new Movement(Direction.RELATIVE, number());
        } else if (acceptDirection("backward")) {
            return count(Direction.BACKWARD);
        }
        acceptDirection("forward");
        return count(Direction.FORWARD);
    }

    /** A word that is not the cursor's name, behind which nothing stands. */
    private boolean acceptDirection(String word) {
        boolean isName = words.peekAt(1).isSymbol(";") || words.peekAt(1).kind() == Kind.END;
        return !isName && words.accept(word);
    }

    private Movement count(Direction direction) {
        if (acceptDirection("all")) {
            return new Movement(direction, Long.MAX_VALUE);
        }
        boolean counted = words.peek().kind() == Kind.INTEGER
                || words.peek().isSymbol("-")
                || words.peek().isSymbol("+");
        return Movement.by(direction, counted ? number() : 1);
    }

    private long number() {
        boolean negative = words.acceptSymbol("-");
        if (!negative) {
            words.acceptSymbol("+");
        }
        if (words.peek().kind() != Kind.INTEGER) {
            throw words.expected(List.of("a number"));
        }
        Lexeme number = words.next();
        try {
            return Long.parseLong((negative ? "-" : "") + number.text());
        } catch (NumberFormatException e) {
            throw MillraceException.user(
                            SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "a count of " + number.text() + " is out of range")
                    .at(number.start() + 1);
        }
    }

    private static long timeoutMicros(String text) {
        try {
            Object value = Literals.parse(DataType.INTERVAL, text).value();
            return Math.max(0, Literals.durationMicros((IntervalValue) value));
        } catch (MillraceException e) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "timeout \"" + text + "\" is not an interval")
                    .withHint("such as '1s' or '500 milliseconds'");
        }
    }

    Syntax close() {
        words.expect("close");
        return new Syntax.Complete(
                new Statement.CloseCursor(words.accept("all") ? Optional.empty() : Optional.of(words.name())));
    }

    // ---- COPY ------------------------------------------------------------------------------------------------------

    Syntax copy() {
        words.expect("copy");
        if (words.acceptSymbol("(")) {
            Syntax source = statements.statement();
            words.expectSymbol(")");
            words.expect("to");
            return new Syntax.CopyTo(source, file("stdout"), copyOptions(false));
        }
        boolean binary = words.peekAt(1).isName() // the form of PostgreSQL before 9.0
                && !words.peekAt(1).isWord("from")
                && !words.peekAt(1).isWord("to")
                && words.accept("binary");
        SqlIdentifier relation = words.identifier();
        List<SqlIdentifier> columns = words.optionalColumns();
        if (words.accept("from")) {
            return new Syntax.CopyFrom(relation, columns, file("stdin"), copyOptions(binary));
        }
        if (!words.accept("to")) {
            throw words.expected(List.of("from", "to"));
        }
        return new Syntax.CopyTo(
                new Syntax.Select(selectOf(relation, columns), Map.of()), file("stdout"), copyOptions(binary));
    }

    private static Syntax.QueryText selectOf(SqlIdentifier relation, List<SqlIdentifier> columns) {
        if (columns.isEmpty()) {
            return StatementParser.allOf(relation);
        }
        SqlNode select = PlainSelect.of(relation.getParserPosition(), columns, relation);
        return new Syntax.QueryText(select, new Emit.Unspecified(), "");
    }

    private Optional<String> file(String standard) {
        if (words.accept(standard)) {
            return Optional.empty();
        }
        if (words.peek().kind() != Kind.STRING) {
            throw words.expected(List.of(standard));
        }
        return Optional.of(words.string());
    }

    /** {@code [WITH] (FORMAT csv, HEADER)} or the older {@code [WITH] CSV HEADER DELIMITER ','}, {@code [WITH] BINARY}. */
    private Map<String, String> copyOptions(boolean binary) {
        words.accept("with");
        if (words.peek().isSymbol("(")) {
            return words.options();
        }
        Map<String, String> options = new HashMap<>(binary ? Map.of("format", "binary") : Map.of());
        while (true) {
            if (words.accept("csv")) {
                options.put("format", "csv");
            } else if (words.accept("binary")) {
                options.put("format", "binary");
            } else if (words.peek().isWord("header") || words.peek().isWord("freeze")) {
                options.put(words.next().text(), "true");
            } else if (words.peek().isWord("delimiter")
                    || words.peek().isWord("null")
                    || words.peek().isWord("quote")
                    || words.peek().isWord("escape")
                    || words.peek().isWord("encoding")) {
                String name = words.next().text();
                words.accept("as");
                options.put(name, words.string());
            } else {
                return options;
            }
        }
    }
}
