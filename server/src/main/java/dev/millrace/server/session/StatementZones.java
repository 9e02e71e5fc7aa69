package dev.millrace.server.session;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.sql.DefinitionZone;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.text.DateStyle;
import dev.millrace.text.TimeStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A session's statements in its time zone and style of dates. What was found of a statement is kept by its object: in a zone it is another one, which the session has for itself.
 */
final class StatementZones {
    private static final int REMEMBERED = 1000;

    /** In quotes, what may be a day, a month and a year in any order. */
    private static final Pattern NUMBERS_OF_DATE = Pattern.compile("'\\s*\\d{1,2}[-/. ]\\d{1,2}[-/. ]\\d{1,4}\\b");

    private final SessionSettings settings;
    private final Cache<ParsedStatement, ParsedStatement> zoned =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();

    StatementZones(SessionSettings settings) {
        this.settings = settings;
    }

    /** What users who define something are told who may take it to be in their zone and style. */
    List<String> notices(ParsedStatement statement) {
        List<String> notices = new ArrayList<>();
        settings.timeZone()
                .filter(zone -> DefinitionZone.isUnsaid(statement.syntax()))
                .ifPresent(zone ->
                        notices.add("it computes in UTC, whatever the session's time zone is; WITH (timezone = '" + zone
                                + "') has it in that zone"));
        boolean isInOrder = settings.timeStyle().dates().order() == DateStyle.Order.MDY;
        boolean keepsText = DefinitionZone.concerns(statement.syntax()) || DefinitionZone.isRead(statement.syntax());
        if (!isInOrder && keepsText && NUMBERS_OF_DATE.matcher(statement.text()).find()) {
            notices.add("it reads dates such as 1/2/2020 month first, whatever the session's DateStyle is");
        }
        return notices;
    }

    /** The statement as it is executed now. */
    ParsedStatement here(ParsedStatement given) {
        TimeStyle style = settings.timeStyle();
        if (given.style().equals(style)) {
            return given;
        }
        ParsedStatement known = zoned.getIfPresent(given);
        if (known == null || !known.style().equals(style)) {
            known = given.inStyle(style);
            zoned.put(given, known);
        }
        return known;
    }
}
