package dev.millrace.cli.shell;

import dev.millrace.sql.text.SqlText;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.EOFError;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;

/** Tells JLine when what was typed is whole, and which word the cursor is in. */
final class LineParser implements Parser {
    @Override
    public ParsedLine parse(String line, int cursor, ParseContext context) {
        if (context != ParseContext.COMPLETE) {
            requireWhole(line);
        }
        return new Words(line, cursor);
    }

    private static void requireWhole(String line) {
        if (line.isBlank() || line.stripLeading().startsWith("\\")) {
            return;
        }
        SqlText.Input input = SqlText.split(line);
        if (!input.rest().isBlank()) {
            char sign = input.prompt().sign();
            throw new EOFError(-1, -1, "the statement goes on", String.valueOf(sign));
        }
    }

    @Override
    public boolean isEscapeChar(char c) {
        return false;
    }

    /** Words in the sense of completion: letters, digits, underscores and dots, or a backslash command. */
    private record Words(String line, int cursor, List<String> words, int wordIndex, int wordCursor)
            implements ParsedLine {
        Words(String line, int cursor) {
            this(line, cursor, split(line), index(line, cursor), cursor - start(line, cursor));
        }

        private static boolean isPart(char c) {
            return Character.isLetterOrDigit(c) || c == '_' || c == '.' || c == '\\' || c == '?';
        }

        private static int start(String line, int cursor) {
            int start = Math.min(cursor, line.length());
            while (start > 0 && isPart(line.charAt(start - 1))) {
                start--;
            }
            return start;
        }

        private static List<String> split(String line) {
            List<String> words = new ArrayList<>();
            int at = 0;
            while (at <= line.length()) {
                int end = at;
                while (end < line.length() && isPart(line.charAt(end))) {
                    end++;
                }
                words.add(line.substring(at, end));
                at = end + 1;
            }
            return words;
        }

        /** Every character that is no part of a word ends one, so the words before the cursor are as many as those. */
        private static int index(String line, int cursor) {
            int index = 0;
            for (int at = 0; at < cursor; at++) {
                index += isPart(line.charAt(at)) ? 0 : 1;
            }
            return index;
        }

        @Override
        public String word() {
            return words.get(wordIndex);
        }
    }
}
