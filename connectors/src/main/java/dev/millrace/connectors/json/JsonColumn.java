package dev.millrace.connectors.json;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A declared column and where it is in an object.
 *
 * @param path from the outside in: names of members, or numbers of elements in brackets; commonly the column's name alone
 * @param format of dates and times, where it is not PostgreSQL's own
 */
public record JsonColumn(Field field, List<String> path, Optional<TimestampFormat> format) {
    private static final Pattern STEP = Pattern.compile("([^.\\[\\]]+)|(\\[[0-9]{1,9}])");

    public JsonColumn {
        path = List.copyOf(path);
    }

    /**
     * The steps of a path such as {@code readings[0].value}.
     *
     * @throws MillraceException 22023 when it is none
     */
    public static List<String> steps(String path) {
        List<String> steps = new ArrayList<>();
        Matcher matcher = STEP.matcher(path);
        int end = 0;
        while (end < path.length() && matcher.find(end) && matcher.start() == end) {
            steps.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
            end = matcher.end();
            boolean dot = end < path.length() && path.charAt(end) == '.';
            end += dot ? 1 : 0;
            if (dot && (end == path.length() || path.charAt(end) == '[')) {
                break;
            }
        }
        if (end < path.length() || path.endsWith(".") || steps.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "\"" + path + "\" is no path into a JSON object")
                    .withHint("Names are behind points, numbers of elements in brackets: readings[0].value.");
        }
        return steps;
    }
}
