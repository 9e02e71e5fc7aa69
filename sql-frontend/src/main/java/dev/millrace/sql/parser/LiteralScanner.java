package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.LiteralRows.Kind;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.text.Utf8Text;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Finds the literals in the rows of an INSERT in one pass over its text, without tokens: what is found is what the grammar finds, and
 * whatever is not as plain as nearly all texts are is left to the grammar.
 *
 * <pre>
 *   rows    := row ( "," row )* [ ";" ]
 *   row     := "(" literal ( "," literal )* ")"
 *   literal := NULL | TRUE | FALSE | [-] digits [ "." digits ] | [ TIMESTAMP | DATE ] "'" characters "'"
 * </pre>
 *
 * Not plain are comments, strings with other rules than the standard's, numbers with an exponent, and all else.
 */
public final class LiteralScanner {
    private static final int NONE = -1;
    private static final byte END = 0; // of the text; NUL is in none

    private final byte[] text;
    private final List<DataType> types;
    private int[] places = new int[64];
    private int cells;
    private boolean isReplaced; // perhaps: a question mark is what half a surrogate pair becomes

    private LiteralScanner(byte[] text, List<DataType> types) {
        this.text = text;
        this.types = types;
    }

    /**
     * The rows that a text has from a place on, and nothing behind them.
     *
     * @param types of the columns that they are for
     * @return empty where anything is not plain, or a literal is not of the kind of its column
     * @throws MillraceException 22021 for what is no text
     */
    public static Optional<LiteralText> scan(String sql, int from, List<DataType> types) {
        LiteralScanner scanner = new LiteralScanner(sql.substring(from).getBytes(StandardCharsets.UTF_8), types);
        Optional<LiteralText> rows = scanner.rows();
        if (scanner.isReplaced) {
            Utf8Text.checked(sql);
        }
        return rows;
    }

    private Optional<LiteralText> rows() {
        int at = 0;
        do {
            at = row(blanks(at));
            if (at == NONE) {
                return Optional.empty();
            }
            at = blanks(at);
        } while (byteAt(at++) == ',');
        at--;
        if (byteAt(at) == ';') {
            at = blanks(at + 1);
        }
        return at == text.length
                ? Optional.of(new LiteralText(types.size(), text, Arrays.copyOf(places, 2 * cells)))
                : Optional.empty();
    }

    /** Reads a row; the place behind it, or {@link #NONE}. */
    private int row(int from) {
        if (byteAt(from) != '(') {
            return NONE;
        }
        int at = from + 1;
        for (int column = 0; column < types.size(); column++) {
            at = literal(blanks(at), types.get(column));
            if (at == NONE) {
                return NONE;
            }
            at = blanks(at);
            if (byteAt(at) != (column == types.size() - 1 ? ')' : ',')) {
                return NONE;
            }
            at++;
        }
        return at;
    }

    private int literal(int at, DataType type) {
        byte first = byteAt(at);
        if (first == '\'') {
            return Kind.STRING.fits(type) ? string(at) : NONE;
        }
        return first == '-' || isDigit(first) ? number(at, type) : word(at, type);
    }

    /** A string that goes on behind a line's end has a quote where this expects a comma. */
    private int string(int from) {
        int to = from + 1;
        for (int at = from + 1; ; at++) {
            byte c = byteAt(at);
            if (c == END) {
                return NONE;
            }
            if (c == '\'') {
                if (byteAt(at + 1) != '\'') {
                    add(from + 1, to - from - 1);
                    return at + 1;
                }
                at++;
            }
            isReplaced |= c == '?';
            text[to++] = c; // each quote of a pair is one character less
        }
    }

    private int number(int from, DataType type) {
        int at = digits(byteAt(from) == '-' ? from + 1 : from);
        if (!isDigit(byteAt(at - 1))) {
            return NONE;
        }
        boolean isDecimal = byteAt(at) == '.';
        if (isDecimal) {
            at = digits(at + 1);
        }
        if (isName(byteAt(at)) || byteAt(at) == '.' || !(isDecimal ? Kind.DECIMAL : Kind.INTEGER).fits(type)) {
            return NONE;
        }
        add(from, at - from);
        return at;
    }

    private int digits(int from) {
        int at = from;
        while (isDigit(byteAt(at))) {
            at++;
        }
        return at;
    }

    private int word(int from, DataType type) {
        int at = from;
        while (isName(byteAt(at))) {
            at++;
        }
        if (is(from, at, "null")) {
            add(from, LiteralText.NULL);
            return at;
        } else if (is(from, at, "true") || is(from, at, "false")) {
            add(from, at - from);
            return Kind.BOOLEAN.fits(type) ? at : NONE;
        } else if (is(from, at, "timestamp") && Kind.TIMESTAMP.fits(type)
                || is(from, at, "date") && Kind.DATE.fits(type)) {
            int quote = blanks(at);
            return byteAt(quote) == '\'' ? string(quote) : NONE;
        }
        return NONE;
    }

    /** @param word in small letters */
    private boolean is(int from, int to, String word) {
        if (to - from != word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if ((text[from + i] | 0x20) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private void add(int start, int length) {
        if (2 * cells == places.length) {
            places = Arrays.copyOf(places, 2 * places.length);
        }
        places[2 * cells] = start;
        places[2 * cells + 1] = length;
        cells++;
    }

    private int blanks(int from) {
        int at = from;
        while (byteAt(at) == ' ' || byteAt(at) == '\n' || byteAt(at) == '\r' || byteAt(at) == '\t') {
            at++;
        }
        return at;
    }

    private byte byteAt(int at) {
        return at < text.length ? text[at] : END;
    }

    private static boolean isDigit(byte c) {
        return c >= '0' && c <= '9';
    }

    /** Whether a name or a word goes on with it; also what is no ASCII. */
    private static boolean isName(byte c) {
        return isDigit(c) || (c | 0x20) >= 'a' && (c | 0x20) <= 'z' || c == '_' || c == '$' || c < 0;
    }
}
