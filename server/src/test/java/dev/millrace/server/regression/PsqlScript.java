package dev.millrace.server.regression;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of SQL cut where psql cuts it: at a semicolon outside of quotes, comments and parentheses, and at a backslash command. What is cut
 * at one line is one step, since psql (with {@code -a}) first repeats the line and then prints what all of it gave.
 */
final class PsqlScript {
    private static final Set<String> SENDING = Set.of("g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch");
    private static final Pattern LISTING = Pattern.compile("(d\\S*|sf\\+?|sv\\+?|l\\+?|z)");
    private static final Pattern FROM_CLIENT = Pattern.compile("(?is)copy\\b.*\\bfrom\\s+stdin\\b.*");
    private static final Pattern FILE_NAME = Pattern.compile("\\\\set filename :abs_srcdir '(.*)'");
    private static final Pattern FROM_FILE = Pattern.compile("(?i)(copy .* from) :'filename';");

    /**
     * @param line the number of the line that brings the answer, from 1
     * @param echoed the lines that psql repeats before the answer, from the end of the step before
     * @param text the statements without comments
     * @param statements how many statements are sent, listings such as {@code \d} included
     */
    record Step(int line, List<String> echoed, String text, int statements) {}

    private enum Within {
        NOTHING,
        QUOTES,
        ESCAPED_QUOTES,
        NAME,
        DOLLARS,
        COMMENT
    }

    private final List<String> lines;
    private final List<Step> steps = new ArrayList<>();
    private List<String> echoed = new ArrayList<>();
    private final StringBuilder text = new StringBuilder(); // of the step so far
    private final StringBuilder statement = new StringBuilder(); // of the statement so far
    private Within within = Within.NOTHING;
    private String tag = ""; // of the dollars, with them
    private int comments; // how deep
    private int parentheses; // how deep
    private int sent; // statements of the step so far
    private boolean answered; // whether something in the line is answered
    private boolean dataFollow; // whether the last statement takes the lines that follow

    private PsqlScript(List<String> lines) {
        this.lines = List.copyOf(lines);
        read();
    }

    static PsqlScript of(List<String> lines) {
        return new PsqlScript(lines);
    }

    /** The steps in order; a last one without statements has the lines behind the last, if there are any. */
    List<Step> steps() {
        return steps;
    }

    List<String> lines() {
        return lines;
    }

    /** A form of lines in which {@code COPY .. FROM} a file of the server's has the rows of that file behind it. */
    static List<String> withRows(List<String> lines, Rows rows) throws IOException {
        List<String> all = new ArrayList<>();
        String file = "";
        for (String line : lines) {
            Matcher named = FILE_NAME.matcher(line);
            if (named.matches()) {
                file = named.group(1);
            }
            Matcher copy = FROM_FILE.matcher(line);
            if (copy.matches()) {
                all.add(copy.group(1) + " STDIN;");
                all.addAll(rows.of(file));
                all.add("\\.");
            } else {
                all.add(line);
            }
        }
        return all;
    }

    /** The lines of a file of data. */
    interface Rows {
        List<String> of(String file) throws IOException;
    }

    private void read() {
        int at = 0;
        while (at < lines.size()) {
            String line = lines.get(at++);
            if (line.isEmpty() && within == Within.NOTHING) {
                continue; // psql leaves these out
            }
            echoed.add(line);
            scan(line);
            if (answered) {
                end(at);
            }
            if (dataFollow) {
                dataFollow = false;
                while (at < lines.size() && !lines.get(at++).equals("\\.")) {
                    // a row
                }
            }
        }
        if (!echoed.isEmpty()) {
            end(at);
        }
    }

    private void end(int line) {
        steps.add(new Step(line, List.copyOf(echoed), text.toString().strip(), sent));
        echoed = new ArrayList<>();
        text.setLength(0);
        sent = 0;
        answered = false;
    }

    private void scan(String line) {
        int at = 0;
        while (at < line.length()) {
            at = switch (within) {
                case NOTHING -> code(line, at);
                case QUOTES -> quoted(line, at, '\'', false);
                case ESCAPED_QUOTES -> quoted(line, at, '\'', true);
                case NAME -> quoted(line, at, '"', false);
                case DOLLARS -> dollars(line, at);
                case COMMENT -> comment(line, at);
            };
        }
        statement.append('\n');
    }

    /** Reads from a place outside of quotes; gives the next place. */
    private int code(String line, int at) {
        char c = line.charAt(at);
        if (line.startsWith("--", at)) {
            return line.length();
        }
        if (line.startsWith("/*", at)) {
            within = Within.COMMENT;
            comments = 1;
            return at + 2;
        }
        if (c == '\\') {
            return backslash(line, at);
        }
        if (c == ';' && parentheses == 0) {
            send();
            return at + 1;
        }
        statement.append(c);
        switch (c) {
            case '\'' -> within = isEscaped(line, at) ? Within.ESCAPED_QUOTES : Within.QUOTES;
            case '"' -> within = Within.NAME;
            case '(' -> parentheses++;
            case ')' -> parentheses = Math.max(0, parentheses - 1);
            case '$' -> {
                return dollar(line, at);
            }
            default -> {}
        }
        return at + 1;
    }

    private static boolean isEscaped(String line, int quote) {
        return quote > 0
                && Character.toLowerCase(line.charAt(quote - 1)) == 'e'
                && (quote == 1 || !Character.isJavaIdentifierPart(line.charAt(quote - 2)));
    }

    private int dollar(String line, int at) {
        if (at > 0 && Character.isJavaIdentifierPart(line.charAt(at - 1))) {
            return at + 1;
        }
        int end = at + 1;
        while (end < line.length() && line.charAt(end) != '$' && Character.isJavaIdentifierPart(line.charAt(end))) {
            end++;
        }
        boolean parameter = end > at + 1 && Character.isDigit(line.charAt(at + 1));
        if (parameter || end == line.length() || line.charAt(end) != '$') {
            return at + 1;
        }
        tag = line.substring(at, end + 1);
        within = Within.DOLLARS;
        statement.append(line, at + 1, end + 1);
        return end + 1;
    }

    private int dollars(String line, int at) {
        int end = line.indexOf(tag, at);
        int next = end < 0 ? line.length() : end + tag.length();
        statement.append(line, at, next);
        if (end >= 0) {
            within = Within.NOTHING;
        }
        return next;
    }

    private int quoted(String line, int at, char quote, boolean escapes) {
        char c = line.charAt(at);
        statement.append(c);
        if (escapes && c == '\\' && at + 1 < line.length()) {
            statement.append(line.charAt(at + 1));
            return at + 2;
        }
        if (c == quote) {
            within = Within.NOTHING; // of two in a row the second opens again
            if (escapes && at + 1 < line.length() && line.charAt(at + 1) == quote) {
                within = Within.ESCAPED_QUOTES;
                return at + 2;
            }
        }
        return at + 1;
    }

    private int comment(String line, int at) {
        if (line.startsWith("/*", at)) {
            comments++;
            return at + 2;
        }
        if (line.startsWith("*/", at)) {
            comments--;
            if (comments == 0) {
                within = Within.NOTHING;
            }
            return at + 2;
        }
        return at + 1;
    }

    private int backslash(String line, int at) {
        if (line.startsWith("\\;", at)) {
            statement.append(';');
            return at + 2;
        }
        int end = at + 1;
        while (end < line.length() && !Character.isWhitespace(line.charAt(end)) && line.charAt(end) != '\\') {
            end++;
        }
        String command = line.substring(at + 1, end);
        if (SENDING.contains(command.toLowerCase(Locale.ROOT))) {
            send();
        } else if (LISTING.matcher(command).matches()) {
            text.append(line, at, line.length()).append('\n');
            sent++;
        }
        answered = true;
        return line.length(); // the rest are its arguments
    }

    private void send() {
        String sql = statement.toString().strip();
        statement.setLength(0);
        parentheses = 0;
        answered = true;
        if (!sql.isEmpty()) {
            sent++;
            text.append(sql).append(";\n");
            dataFollow = FROM_CLIENT.matcher(sql).matches();
        }
    }
}
