package dev.millrace.server.planning;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import java.util.Locale;
import java.util.Optional;

/** What a standing query does with late rows, as its option {@code late} says. */
enum LateRule {
    /** Windows that close drop late rows, others count them. */
    UNSAID,
    /** Windows of EMIT CHANGES drop them too. */
    DROP,
    /** Late rows correct windows that were emitted already. */
    INCLUDE;

    /** @param option the option's text, where it was given */
    static LateRule of(Optional<String> option) {
        return switch (option.orElse("").toLowerCase(Locale.ROOT)) {
            case "" -> UNSAID;
            case "drop" -> DROP;
            case "include" -> INCLUDE;
            default ->
                throw Options.invalid(
                        "late",
                        option.get(),
                        "drop or include; without either, windows that close drop late rows and others count them");
        };
    }

    /** The query as it is planned under this rule. */
    Query applied(Query query) {
        return this == INCLUDE ? including(query) : query;
    }

    /** Windows that late rows correct never close: the query emits changes. */
    private static Query including(Query query) {
        if (query.emit() instanceof Emit.OnWindowClose) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "late = 'include' is not possible with EMIT ON WINDOW CLOSE: a window that is emitted once cannot be"
                                    + " corrected")
                    .withHint("EMIT CHANGES shows windows as they grow and corrects them");
        }
        return query.emit() instanceof Emit.Unspecified ? query.withEmit(new Emit.Changes()) : query;
    }
}
