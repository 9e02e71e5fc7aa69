package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.TimeZones;
import java.util.Map;
import java.util.Optional;

/**
 * In which time zone and style a statement is bound. What goes on without its session does not depend on that: it is in the plain style and in UTC, or in the zone that its
 * option {@code timezone} names.
 */
public final class DefinitionZone {
    /** The option of queries, views and sinks. */
    public static final String OPTION = "timezone";

    private DefinitionZone() {}

    /** Whether a statement defines what goes on without its session. */
    public static boolean concerns(Syntax syntax) {
        return syntax instanceof Syntax.CreateRelation
                || options(syntax).isPresent()
                || syntax instanceof Syntax.CreateTemplate
                || syntax instanceof Syntax.CreateFromTemplate
                || syntax instanceof Syntax.CreateFunction
                || syntax instanceof Syntax.AlterQuery
                || syntax instanceof Syntax.Reprocess
                || syntax instanceof Syntax.Explain explain && concerns(explain.statement());
    }

    /** Whether a statement keeps a text that is read again by statements of other sessions. */
    public static boolean isRead(Syntax syntax) {
        return syntax instanceof Syntax.CreateView
                || syntax instanceof Syntax.Explain explain && isRead(explain.statement());
    }

    /** Whether a statement defines a query, which can be in a zone, and says none. */
    public static boolean isUnsaid(Syntax syntax) {
        return options(syntax).filter(given -> !given.containsKey(OPTION)).isPresent();
    }

    private static Optional<Map<String, String>> options(Syntax syntax) {
        if (syntax instanceof Syntax.CreateQuery create) {
            return Optional.of(create.options());
        } else if (syntax instanceof Syntax.CreateStreamAs create) {
            return Optional.of(create.options());
        } else if (syntax instanceof Syntax.CreateSink sink) {
            return Optional.of(sink.options());
        }
        return syntax instanceof Syntax.Explain explain ? options(explain.statement()) : Optional.empty();
    }

    static TimeStyle of(Syntax syntax, TimeStyle session) {
        if (!concerns(syntax)) {
            return isRead(syntax) ? session.monthsFirst() : session;
        }
        Optional<String> name = options(syntax).map(given -> given.get(OPTION));
        boolean isUtc = name.isEmpty()
                || TimeZones.isUtc(TimeZones.find(name.get())
                        .orElseThrow(() -> MillraceException.user(
                                        SqlState.INVALID_PARAMETER_VALUE,
                                        "option \"timezone\" cannot be \"" + name.get() + "\"")
                                .withHint("it is a time zone, such as 'Europe/Berlin'")));
        return TimeStyle.in(isUtc ? Optional.empty() : name);
    }
}
