package dev.millrace.server.copy;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Lines of fields: PostgreSQL's text form, where a backslash takes the meaning from what follows it, and CSV, where quotes
 * do. A line {@code \.} ends the data.
 */
final class LineScanner implements RowScanner {
    private static final int INCOMPLETE = -1;
    private static final int ROOM = 256;

    private final CopyInput rows;
    private final boolean csv;
    private final byte delimiter;
    private final byte quote;
    private final byte escape;
    private final byte[] nullText;
    private final TextBuffer unescaped;
    private boolean headerExpected;
    private boolean ended;

    LineScanner(CopyInput rows, CopyOptions options, BufferAllocator allocator) {
        this.rows = rows;
        this.csv = options.form() == CopyOptions.Form.CSV;
        this.delimiter = options.delimiter();
        this.quote = options.quote();
        this.escape = options.escape();
        this.nullText = options.nullText().getBytes(StandardCharsets.UTF_8);
        this.headerExpected = options.header();
        this.unescaped = new TextBuffer(allocator, ROOM);
    }

    @Override
    public int scan(long address, int length, boolean last) {
        long at = address;
        long end = address + length;
        while (at < end && !ended) {
            long next = lineEnd(at, end);
            if (next == INCOMPLETE) {
                if (!last) {
                    break;
                }
                next = end;
            }
            line(at, contentEnd(at, next));
            at = next;
        }
        return ended ? length : (int) (at - address);
    }

    @Override
    public boolean mayEnd(long address, int length) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(address + i) == '\n') {
                return true;
            }
        }
        return ended;
    }

    /** Behind the line feed that ends the line; it does not count in quotes, nor behind a backslash. */
    private long lineEnd(long from, long end) {
        boolean quoted = false;
        for (long at = from; at < end; at++) {
            byte b = Memory.getByte(at);
            if (b == '\n' && !quoted) {
                return at + 1;
            } else if (csv) {
                if (quoted && b == escape && escape != quote) {
                    at++;
                } else if (b == quote) {
                    quoted = !quoted;
                }
            } else if (b == '\\') {
                at++;
            }
        }
        return INCOMPLETE;
    }

    private static long contentEnd(long from, long next) {
        long end = next;
        if (end > from && Memory.getByte(end - 1) == '\n') {
            end--;
        }
        if (end > from && Memory.getByte(end - 1) == '\r') {
            end--;
        }
        return end;
    }

    private void line(long from, long end) {
        if (headerExpected) {
            headerExpected = false;
            return;
        }
        if (end - from == 2 && Memory.getByte(from) == '\\' && Memory.getByte(from + 1) == '.') {
            ended = true;
            return;
        }
        int columns = rows.columnCount();
        long at = from;
        for (int column = 0; column < columns; column++) {
            if (at > end) {
                throw rows.malformed("missing data for column " + (column + 1) + " of " + columns);
            }
            at = csv ? csvField(column, at, end) : textField(column, at, end);
        }
        if (at <= end) {
            throw rows.malformed("extra data after column " + columns);
        }
        rows.endRow();
    }

    /** Reads a field and returns where the next begins: behind the delimiter, or behind the end. */
    private long textField(int column, long from, long end) {
        long at = from;
        boolean escaped = false;
        while (at < end) {
            byte b = Memory.getByte(at);
            if (b == delimiter) {
                break;
            }
            if (b == '\\') {
                escaped = true;
                at++;
            }
            at++;
        }
        at = Math.min(at, end);
        int length = (int) (at - from);
        if (isNull(from, length)) {
            rows.nothing(column);
        } else if (escaped) {
            unescape(from, at);
            rows.text(column, unescaped.address(), (int) unescaped.length());
        } else {
            rows.text(column, from, length);
        }
        return at + 1;
    }

    private boolean isNull(long from, int length) {
        if (length != nullText.length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(from + i) != nullText[i]) {
                return false;
            }
        }
        return true;
    }

    private void unescape(long from, long end) {
        unescaped.clear();
        for (long at = from; at < end; at++) {
            byte b = Memory.getByte(at);
            if (b != '\\' || at + 1 == end) {
                unescaped.append(b);
                continue;
            }
            b = Memory.getByte(++at);
            switch (b) {
                case 'b' -> unescaped.append('\b');
                case 'f' -> unescaped.append('\f');
                case 'n' -> unescaped.append('\n');
                case 'r' -> unescaped.append('\r');
                case 't' -> unescaped.append('\t');
                case 'v' -> unescaped.append((byte) 11);
                case 'x' -> at = hexadecimal(at, end);
                default -> {
                    if (b >= '0' && b <= '7') {
                        at = octal(at, end);
                    } else {
                        unescaped.append(b);
                    }
                }
            }
        }
    }

    private long octal(long from, long end) {
        int value = 0;
        long at = from;
        for (; at < end && at < from + 3 && Character.digit(Memory.getByte(at), 8) >= 0; at++) {
            value = value * 8 + Character.digit(Memory.getByte(at), 8);
        }
        unescaped.append((byte) value);
        return at - 1;
    }

    private long hexadecimal(long from, long end) {
        int value = 0;
        long at = from + 1;
        for (; at < end && at < from + 3 && Character.digit(Memory.getByte(at), 16) >= 0; at++) {
            value = value * 16 + Character.digit(Memory.getByte(at), 16);
        }
        unescaped.append(at == from + 1 ? (byte) 'x' : (byte) value);
        return at - 1;
    }

    private long csvField(int column, long from, long end) {
        long at = from;
        while (at < end && Memory.getByte(at) != delimiter && Memory.getByte(at) != quote) {
            at++;
        }
        if (at == end || Memory.getByte(at) == delimiter) {
            int length = (int) (at - from);
            if (isNull(from, length)) {
                rows.nothing(column);
            } else {
                rows.text(column, from, length);
            }
            return at + 1;
        }
        return quotedField(column, from, end);
    }

    private long quotedField(int column, long from, long end) {
        unescaped.clear();
        boolean quoted = false;
        long at = from;
        for (; at < end; at++) {
            byte b = Memory.getByte(at);
            if (quoted && b == escape && at + 1 < end && isEscapable(Memory.getByte(at + 1))) {
                unescaped.append(Memory.getByte(++at));
            } else if (b == quote) {
                quoted = !quoted;
            } else if (b == delimiter && !quoted) {
                break;
            } else {
                unescaped.append(b);
            }
        }
        if (quoted) {
            throw rows.malformed("unterminated CSV quoted field");
        }
        rows.text(column, unescaped.address(), (int) unescaped.length());
        return at + 1;
    }

    private boolean isEscapable(byte b) {
        return b == quote || b == escape;
    }

    @Override
    public void close() {
        unescaped.close();
    }
}
