package dev.millrace.sql.parser;

import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.LiteralRows.Kind;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads {@code VALUES (...), (...)} of literals and parameters as cells: trees of them take many times the memory. */
final class LiteralRowsParser {
    private final Words words;
    private final List<Cell> cells = new ArrayList<>();

    private LiteralRowsParser(Words words) {
        this.words = words;
    }

    /** The rows from here on; empty, and the place is the same as before, where there is anything else. */
    static Optional<LiteralRows> read(Words words) {
        int place = words.place();
        Optional<LiteralRows> rows = new LiteralRowsParser(words).rows();
        if (rows.isEmpty()) {
            words.backTo(place);
        }
        return rows;
    }

    private Optional<LiteralRows> rows() {
        if (!words.accept("values")) {
            return Optional.empty();
        }
        int width = 0;
        do {
            int before = cells.size();
            if (!row()) {
                return Optional.empty();
            }
            int given = cells.size() - before;
            if (width > 0 && given != width) {
                return Optional.empty(); // an error that the grammar's way words well
            }
            width = given;
        } while (words.acceptComma());
        Lexeme next = words.peek();
        boolean ends = words.atEnd() || next.isSymbol(";") || next.isWord("on") || next.isWord("returning");
        return ends ? Optional.of(new LiteralRows(width, cells)) : Optional.empty();
    }

    private boolean row() {
        if (!words.acceptSymbol("(")) {
            return false;
        }
        do {
            if (!cell()) {
                return false;
            }
        } while (words.acceptComma());
        return words.acceptSymbol(")");
    }

    private boolean cell() {
        Lexeme first = words.next();
        int position = first.start() + 1;
        boolean minus = first.isSymbol("-");
        Lexeme value = minus ? words.next() : first;
        switch (value.kind()) {
            case INTEGER -> add(Kind.INTEGER, minus ? "-" + value.text() : value.text(), position);
            case DECIMAL -> add(Kind.DECIMAL, minus ? "-" + value.text() : value.text(), position);
            default -> {
                return !minus && other(value, position);
            }
        }
        return true;
    }

    private boolean other(Lexeme value, int position) {
        switch (value.kind()) {
            case STRING -> add(Kind.STRING, value.text(), position);
            case PARAMETER -> add(Kind.PARAMETER, value.text(), position);
            case WORD -> {
                return word(value.text(), position);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean word(String word, int position) {
        switch (word) {
            case "null" -> add(Kind.NULL, "", position);
            case "true", "false" -> add(Kind.BOOLEAN, word, position);
            case "timestamp", "date" -> {
                if (words.peek().kind() != Lexeme.Kind.STRING) {
                    return false;
                }
                add(
                        word.equals("date") ? Kind.DATE : Kind.TIMESTAMP,
                        words.next().text(),
                        position);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void add(Kind kind, String text, int position) {
        cells.add(new Cell(kind, text, position));
    }
}
