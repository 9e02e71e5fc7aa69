package dev.millrace.sql;

import dev.millrace.sql.syntax.Syntax;
import dev.millrace.text.TimeStyle;
import java.util.Optional;

/**
 * One statement of a text that parsed.
 *
 * @param source the whole text, in which positions count
 * @param text the statement without its semicolon and without comments around it
 * @param offset where {@code text} starts in the whole, in characters from 0
 * @param parameterCount the highest {@code $n} in it
 * @param syntax for {@link Frontend#analyze}
 * @param style of its dates and times, in which it is bound
 */
public record ParsedStatement(
        String source, String text, int offset, int parameterCount, Syntax syntax, TimeStyle style) {
    /** One in the plain style. */
    public ParsedStatement(String source, String text, int offset, int parameterCount, Syntax syntax) {
        this(source, text, offset, parameterCount, syntax, TimeStyle.PLAIN);
    }

    /** The same in another style. */
    public ParsedStatement inStyle(TimeStyle wanted) {
        return new ParsedStatement(source, text, offset, parameterCount, syntax, wanted);
    }

    /** Of PREPARE the statement that it prepares. */
    public Optional<ParsedStatement> prepared() {
        return syntax instanceof Syntax.Prepare prepare
                ? Optional.of(new ParsedStatement(
                        source,
                        source.substring(prepare.start(), prepare.end()),
                        prepare.start(),
                        prepare.parameterCount(),
                        prepare.statement()))
                : Optional.empty();
    }
}
