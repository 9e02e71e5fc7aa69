package dev.millrace.sql.bind.type;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;

/** PostgreSQL's words for a date and time that are no constants here: the time of the statement, and of what goes on that of each row. */
public final class SaidTimes {
    private static final String NOW = "now";

    /** Days from today. */
    private static final Map<String, Long> DAYS = Map.of("yesterday", -1L, "today", 0L, "tomorrow", 1L);

    private SaidTimes() {}

    /** What a text means that is to become a date or a timestamp, if it is one of the words. */
    static Optional<RexNode> of(String text, DataType target, Coercions coercions) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        if (!isTime(target) || !isWord(word)) {
            return Optional.empty();
        }
        RexNode now = Rex.call("proctime", List.of(), DataType.TIMESTAMPTZ, false);
        if (word.equals(NOW)) {
            return Optional.of(coercions.convert(now, target));
        }
        RexNode distance = Rex.literal(new Literal(DAYS.getOrDefault(word, 0L), DataType.INTEGER));
        RexNode today = coercions.convert(now, DataType.DATE);
        return Optional.of(coercions.convert(Rex.call("add", List.of(today, distance), DataType.DATE, false), target));
    }

    /** Whether a text that is to become a value of the type is one of the words. */
    public static boolean isOne(String text, DataType target) {
        return isTime(target) && isWord(text.strip().toLowerCase(Locale.ROOT));
    }

    private static boolean isTime(DataType type) {
        return type.kind() == Kind.DATE || type.isTimestamp();
    }

    private static boolean isWord(String word) {
        return word.equals(NOW) || DAYS.containsKey(word);
    }
}
