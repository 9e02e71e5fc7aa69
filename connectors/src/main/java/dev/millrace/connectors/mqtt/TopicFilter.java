package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import java.util.Arrays;
import java.util.List;

/**
 * Which topics: a name, with {@code +} for any one level and {@code #} at the end for all that follow (MQTT 5, 4.7). Of a shared
 * subscription ({@code $share/GROUP/FILTER}) the topics are those of the filter.
 *
 * @param text as the broker is told
 * @param levels of the filter
 */
record TopicFilter(String text, List<String> levels) {
    private static final String SHARE = "$share/";
    private static final int MOST_BYTES = 65_535;
    private static final String EXPECTED = "topics such as site/+/temperature, site/#, or $share/group/site/#";

    TopicFilter {
        levels = List.copyOf(levels);
    }

    /** @throws dev.millrace.error.MillraceException 22023 if it is none */
    static TopicFilter of(String text) {
        String filter = text;
        if (text.startsWith(SHARE)) {
            int end = text.indexOf('/', SHARE.length());
            String group = end < 0 ? "" : text.substring(SHARE.length(), end);
            if (group.isEmpty() || group.contains("+") || group.contains("#")) {
                throw Options.invalid("topic", text, EXPECTED);
            }
            filter = text.substring(end + 1);
        }
        List<String> levels = Arrays.asList(filter.split("/", -1));
        boolean isWrong = filter.isEmpty() || filter.length() > MOST_BYTES || filter.indexOf('\0') >= 0;
        for (int i = 0; i < levels.size(); i++) {
            String level = levels.get(i);
            isWrong |= level.contains("+") && level.length() > 1;
            isWrong |= level.contains("#") && (level.length() > 1 || i < levels.size() - 1);
        }
        if (isWrong) {
            throw Options.invalid("topic", text, EXPECTED);
        }
        return new TopicFilter(text, levels);
    }

    /** A topic to send to, which has no wildcards. */
    static String requireName(String option, String text) {
        if (text.isEmpty() || text.contains("+") || text.contains("#") || text.indexOf('\0') >= 0) {
            throw Options.invalid(option, text, "a topic without + and #");
        }
        return text;
    }

    boolean isShared() {
        return text.startsWith(SHARE);
    }

    /** Whether messages of a topic are meant; those that begin with a dollar sign only if they are named. */
    boolean matches(String topic) {
        int from = 0;
        for (int i = 0; i < levels.size(); i++) {
            String level = levels.get(i);
            boolean isWild = level.equals("#") || level.equals("+");
            if (i == 0 && isWild && topic.startsWith("$")) {
                return false;
            }
            if (level.equals("#")) {
                return true;
            }
            if (from > topic.length()) {
                return false; // it has fewer levels
            }
            int slash = topic.indexOf('/', from);
            int to = slash < 0 ? topic.length() : slash;
            if (!isWild && !(to - from == level.length() && topic.startsWith(level, from))) {
                return false;
            }
            from = to + 1;
        }
        return from > topic.length();
    }

    /** Whether there can be a topic of both. */
    boolean overlaps(TopicFilter other) {
        int both = Math.min(levels.size(), other.levels.size());
        for (int i = 0; i < both; i++) {
            String mine = levels.get(i);
            String others = other.levels.get(i);
            if (mine.equals("#") || others.equals("#")) {
                return true;
            }
            if (!mine.equals(others) && !mine.equals("+") && !others.equals("+")) {
                return false;
            }
        }
        List<String> longer = levels.size() > both ? levels : other.levels;
        return longer.size() == both
                || longer.size() == both + 1 && longer.get(both).equals("#");
    }

    @Override
    public String toString() {
        return text;
    }
}
