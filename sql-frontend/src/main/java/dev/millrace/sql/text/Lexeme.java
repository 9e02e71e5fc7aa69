package dev.millrace.sql.text;

/**
 * One token of SQL text.
 *
 * @param text a word folded to lower case, a quoted name or string without its quotes and escapes, else as written
 * @param start where it begins in the whole text, in characters from 0
 * @param end after its last character
 */
public record Lexeme(Kind kind, String text, int start, int end) {
    /** What a token can be. */
    public enum Kind {
        /** An unquoted name or keyword. */
        WORD,
        QUOTED_NAME,
        STRING,
        /** {@code X'...'}: the text is the hexadecimal digits. */
        BYTES,
        INTEGER,
        DECIMAL,
        /** With an exponent. */
        APPROXIMATE,
        /** {@code $1}: the text is the digits. */
        PARAMETER,
        /** {@code ( ) [ ] , ; . :} and {@code ::}. */
        PUNCTUATION,
        OPERATOR,
        END
    }

    /** Whether this is the unquoted word. */
    public boolean isWord(String word) {
        return kind == Kind.WORD && text.equals(word);
    }

    /** Whether this is that punctuation or operator. */
    public boolean isSymbol(String symbol) {
        return (kind == Kind.PUNCTUATION || kind == Kind.OPERATOR) && text.equals(symbol);
    }

    /** Whether this can be a name. */
    public boolean isName() {
        return kind == Kind.WORD || kind == Kind.QUOTED_NAME;
    }
}
