package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;

/**
 * PostgreSQL's words for a date and time that are no constants here: the time of the statement, and of what goes on that of each row. Behind a day a time and a zone
 * may be, or the day behind them: {@code tomorrow 04:05 EST}, {@code 04:05 tomorrow}.
 */
public final class SaidTimes {
    private static final String NOW = "now";

    /** Days from today. */
    private static final Map<String, Long> DAYS = Map.of("yesterday", -1L, "today", 0L, "tomorrow", 1L);

    private SaidTimes() {}

    /** What a text means that is to become a date or a timestamp, if it is one of the words. */
    static Optional<RexNode> of(String text, DataType target, Coercions coercions) {
        String word = day(text);
        if (!isTime(target) || !isWord(word)) {
            return Optional.empty();
        }
        RexNode now = Rex.call("proctime", List.of(), DataType.TIMESTAMPTZ, false);
        if (word.equals(NOW)) {
            return Optional.of(coercions.convert(now, target));
        }
        RexNode distance = Rex.literal(new Literal(DAYS.getOrDefault(word, 0L), DataType.INTEGER));
        RexNode today = coercions.convert(now, DataType.DATE);
        String all = text.strip();
        String rest = all.toLowerCase(Locale.ROOT).startsWith(word)
                ? all.substring(word.length()).strip()
                : all.substring(0, all.length() - word.length()).strip();
        RexNode day = Rex.call("add", List.of(today, distance), DataType.DATE, false);
        if (rest.isEmpty()) {
            return Optional.of(coercions.convert(day, target));
        }
        try {
            coercions.convert(Rex.unknown("2000-01-01 " + rest), target);
        } catch (MillraceException e) {
            return Optional.empty(); // then the text is none
        }
        RexNode whole = Rex.call(
                "text_concat", List.of(Rex.cast(day, DataType.TEXT), Rex.text(' ' + rest)), DataType.TEXT, false);
        return Optional.of(coercions.convert(whole, target));
    }

    /** Whether a text that is to become a value of the type is one of the words. */
    public static boolean isOne(String text, DataType target) {
        return isTime(target) && isWord(day(text));
    }

    /** The first word if it is a day, or the last, else all. */
    private static String day(String text) {
        String all = text.strip().toLowerCase(Locale.ROOT);
        int blank = all.indexOf(' ');
        if (blank > 0 && DAYS.containsKey(all.substring(0, blank))) {
            return all.substring(0, blank);
        }
        String last = all.substring(all.lastIndexOf(' ') + 1);
        return DAYS.containsKey(last) ? last : all;
    }

    private static boolean isTime(DataType type) {
        return type.kind() == Kind.DATE || type.isTimestamp();
    }

    private static boolean isWord(String word) {
        return word.equals(NOW) || DAYS.containsKey(word);
    }
}
