package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.Collection;
import java.util.Optional;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Errors at a place in the text. */
public final class Errors {
    private Errors() {}

    public static MillraceException error(SqlState state, String message, SqlNode where) {
        return error(state, message, where.getParserPosition());
    }

    public static MillraceException error(SqlState state, String message, SqlParserPos where) {
        return MillraceException.user(state, message).at(where.getColumnNum());
    }

    public static MillraceException notAvailableYet(String feature, SqlNode where) {
        return MillraceException.notAvailableYet(feature)
                .at(where.getParserPosition().getColumnNum());
    }

    /** The same error, at a place if it has none yet. */
    public static MillraceException at(MillraceException error, SqlNode where) {
        return error.position().isPresent()
                ? error
                : error.at(where.getParserPosition().getColumnNum());
    }

    /** With "did you mean", when a candidate is near. */
    public static MillraceException suggest(MillraceException error, String name, Collection<String> candidates) {
        Optional<String> nearest = name.length() < 3 ? Optional.empty() : Suggestion.nearest(name, candidates);
        return nearest.map(candidate -> error.withHint("did you mean \"" + candidate + "\"?"))
                .orElse(error);
    }
}
