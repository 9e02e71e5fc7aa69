package dev.millrace.sql.text;

import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer.Unfinished;
import java.util.ArrayList;
import java.util.List;

/** Cuts text into statements at the semicolons that are outside quotes, comments and parentheses. */
public final class SqlText {
    private SqlText() {}

    /**
     * A statement within a text.
     *
     * @param text without its semicolon and the blanks and comments around it
     * @param offset where it starts, in characters from 0
     */
    public record Part(String text, int offset) {}

    /**
     * What a shell has read so far.
     *
     * @param statements those that are complete
     * @param restOffset where the rest starts: what follows the last semicolon
     * @param rest empty when there is nothing but blanks and comments
     * @param prompt what is open in the rest
     */
    public record Input(List<Part> statements, int restOffset, String rest, Open prompt) {}

    /** What the next line continues, as psql's prompt shows it. */
    public enum Open {
        /** Nothing: a new statement may start ({@code =}). */
        NOTHING('='),
        STATEMENT('-'),
        STRING('\''),
        DOLLAR_STRING('$'),
        QUOTED_NAME('"'),
        COMMENT('*'),
        PARENTHESIS('(');

        private final char sign;

        Open(char sign) {
            this.sign = sign;
        }

        /** The character in psql's prompt. */
        public char sign() {
            return sign;
        }
    }

    /** Splits what was typed so far into statements and an unfinished rest. Never fails. */
    public static Input split(String text) {
        List<Part> statements = new ArrayList<>();
        Lexer lexer = Lexer.lenient(text);
        int restOffset = 0;
        int start = -1;
        int end = 0;
        int depth = 0;
        while (true) {
            Lexeme token = lexer.nextLenient();
            if (token.kind() == Kind.END) {
                break;
            }
            if (token.isSymbol(";") && depth <= 0) {
                if (start >= 0) {
                    statements.add(new Part(text.substring(start, end), start));
                }
                start = -1;
                depth = 0;
                restOffset = token.end();
                continue;
            }
            if (token.isSymbol("(")) {
                depth++;
            } else if (token.isSymbol(")")) {
                depth--;
            }
            start = start < 0 ? token.start() : start;
            end = token.end();
        }
        Open open = switch (lexer.unfinished()) {
            case STRING -> Open.STRING;
            case DOLLAR_STRING -> Open.DOLLAR_STRING;
            case QUOTED_NAME -> Open.QUOTED_NAME;
            case COMMENT -> Open.COMMENT;
            case NOTHING -> depth > 0 ? Open.PARENTHESIS : start >= 0 ? Open.STATEMENT : Open.NOTHING;
        };
        boolean empty = start < 0 && lexer.unfinished() == Unfinished.NOTHING;
        return new Input(List.copyOf(statements), restOffset, empty ? "" : text.substring(restOffset), open);
    }
}
