package dev.millrace.server.planning;

import dev.millrace.connector.Options;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Query;
import java.util.OptionalDouble;

/** {@code WITH (max_error = ..)}: how far numbers of an answer may be off before its query fails. Stateless. */
public final class MaxError {
    private static final String OPTION = Setting.MAX_ERROR.settingName();

    private MaxError() {}

    /**
     * What a standing query's options say.
     *
     * @throws dev.millrace.error.MillraceException 22023 for what is no limit
     */
    static OptionalDouble of(Options options) {
        return of(options, OptionalDouble.empty());
    }

    /**
     * What a SELECT says itself, and else its session.
     *
     * @throws dev.millrace.error.MillraceException 22023 for what is no limit, or another option
     */
    public static OptionalDouble of(Query query, OptionalDouble ofSession) {
        if (query.options().isEmpty()) {
            return ofSession;
        }
        Options options = new Options(query.options());
        OptionalDouble most = of(options, ofSession);
        options.rejectUnread();
        return most;
    }

    private static OptionalDouble of(Options options, OptionalDouble otherwise) {
        return options.text(OPTION)
                .map(text -> SessionSettings.parsedLimit(text)
                        .orElseThrow(() -> Options.invalid(OPTION, text, "a number from 0, or off")))
                .orElse(otherwise);
    }
}
