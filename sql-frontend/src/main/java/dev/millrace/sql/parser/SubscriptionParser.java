package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.syntax.Syntax;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** CREATE, ALTER and DROP SUBSCRIPTION. */
final class SubscriptionParser {
    private static final Pattern TIME = Pattern.compile("(\\d{1,18} ?[a-zA-Z]{1,12} ?){1,8}");

    private final Words words;

    SubscriptionParser(Words words) {
        this.words = words;
    }

    /** Whether a subscription is what is created, altered or dropped, behind that word. */
    boolean isNext() {
        return words.peek().isWord("subscription");
    }

    Syntax create() {
        words.expect("subscription");
        boolean ifNotExists = words.acceptAll("if", "not", "exists");
        String name = words.name();
        words.expect("from");
        String query = words.relationName();
        OptionalLong limitBytes = OptionalLong.empty();
        Optional<String> retention = Optional.empty();
        for (Map.Entry<String, String> option : words.optionalOptions().entrySet()) {
            switch (option.getKey()) {
                case "limit" -> limitBytes = OptionalLong.of(RowsParser.bytes("limit", option.getValue()));
                case "retention" -> retention = Optional.of(time(option.getValue()));
                default ->
                    throw MillraceException.user(
                                    SqlState.INVALID_PARAMETER_VALUE,
                                    "option \"" + option.getKey() + "\" does not exist")
                            .withHint("options of CREATE SUBSCRIPTION are: limit, retention");
            }
        }
        return new Syntax.Complete(
                new SubscriptionStatement.CreateSubscription(name, ifNotExists, query, limitBytes, retention));
    }

    private static String time(String value) {
        if (!TIME.matcher(value).matches()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "retention is a time such as '1 day', not '" + value + "'");
        }
        return value;
    }

    Syntax drop() {
        words.expect("subscription");
        boolean ifExists = words.acceptAll("if", "exists");
        String name = words.name();
        if (!words.accept("cascade")) {
            words.accept("restrict");
        }
        return new Syntax.Complete(new SubscriptionStatement.DropSubscription(name, ifExists));
    }

    Syntax alter() {
        words.expect("subscription");
        String name = words.name();
        words.expect("acknowledge");
        return new Syntax.Acknowledge(name, words.expression());
    }
}
