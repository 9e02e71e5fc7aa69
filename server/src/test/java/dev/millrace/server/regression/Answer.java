package dev.millrace.server.regression;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a step was answered, as far as it is compared: an error is an error, whatever its words; else what psql printed without notices, and
 * without an order where the statement asks for none.
 *
 * @param error the error's message, the first of several
 * @param lines the lines that are printed, if there was no error
 */
record Answer(Optional<String> error, List<String> lines) {
    private static final String ERROR = "ERROR:  ";
    private static final Pattern NOTICE = Pattern.compile(
            "(NOTICE|WARNING|INFO|LOG|DEBUG|DETAIL|HINT|CONTEXT|QUERY|LINE \\d+): .*|drop cascades to .*|and \\d+ other objects.*| +\\^");
    private static final Pattern ORDERED = Pattern.compile("(?is).*\\border\\s+by\\b.*");

    /** @param text the statements that were sent */
    static Answer of(List<String> printed, String text) {
        Optional<String> error = printed.stream()
                .filter(line -> line.startsWith(ERROR) || line.startsWith("FATAL:  "))
                .map(line -> line.substring(line.indexOf(':') + 3))
                .findFirst();
        if (error.isPresent()) {
            return new Answer(error, List.of());
        }
        List<String> lines = new ArrayList<>(printed);
        lines.removeIf(line -> NOTICE.matcher(line).matches());
        if (!ORDERED.matcher(withoutParentheses(text)).matches()) {
            lines.sort(null);
        }
        return new Answer(error, lines);
    }

    /** The text without what is in parentheses: the order of sub-queries, aggregates and windows is not that of the answer. */
    private static String withoutParentheses(String text) {
        StringBuilder outside = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            depth += c == '(' ? 1 : 0;
            if (depth == 0) {
                outside.append(c);
            }
            depth -= c == ')' && depth > 0 ? 1 : 0;
        }
        return outside.toString();
    }

    boolean isSame(Answer other) {
        return error.isPresent() ? other.error.isPresent() : other.error.isEmpty() && lines.equals(other.lines);
    }

    /** Why this answer is not that of PostgreSQL, in words that alike differences share. */
    String cause(Answer postgres) {
        if (error.isPresent()) {
            return general(error.get());
        }
        if (postgres.error.isPresent()) {
            return "no error, where PostgreSQL has: " + general(postgres.error.get());
        }
        return lines.size() == postgres.lines.size() ? "other values or names" : "another number of lines";
    }

    /** A message without what is particular to a statement. */
    static String general(String message) {
        return message.replaceAll("\"[^\"]*\"", "\"..\"").replaceAll("\\b\\d[\\d.]*\\b", "N");
    }
}
