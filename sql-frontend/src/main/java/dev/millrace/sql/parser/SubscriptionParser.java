package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.syntax.Syntax;
import java.util.Map;
import java.util.OptionalLong;

/** CREATE, ALTER and DROP SUBSCRIPTION. */
final class SubscriptionParser {
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
        for (Map.Entry<String, String> option : words.optionalOptions().entrySet()) {
            if (!option.getKey().equals("limit")) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE, "option \"" + option.getKey() + "\" does not exist")
                        .withHint("options of CREATE SUBSCRIPTION are: limit");
            }
            limitBytes = OptionalLong.of(RowsParser.bytes("limit", option.getValue()));
        }
        return new Syntax.Complete(new SubscriptionStatement.CreateSubscription(name, ifNotExists, query, limitBytes));
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
