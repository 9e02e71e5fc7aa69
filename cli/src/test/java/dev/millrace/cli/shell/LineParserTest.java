package dev.millrace.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.jline.reader.EOFError;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser.ParseContext;
import org.junit.jupiter.api.Test;

class LineParserTest {
    private final LineParser parser = new LineParser();

    private String missing(String text) {
        return assertThrows(EOFError.class, () -> parser.parse(text, text.length(), ParseContext.ACCEPT_LINE))
                .getMissing();
    }

    @Test
    void anUnfinishedStatementGoesOnAndThePromptSaysWhy() {
        assertEquals("-", missing("SELECT 1"));
        assertEquals("'", missing("SELECT 'a;"));
        assertEquals("(", missing("SELECT (1"));
        assertEquals("\"", missing("SELECT \"a"));
        parser.parse("SELECT 1;", 9, ParseContext.ACCEPT_LINE);
        parser.parse("\\d", 2, ParseContext.ACCEPT_LINE);
        parser.parse("", 0, ParseContext.ACCEPT_LINE);
    }

    @Test
    void theWordAtTheCursorIsFound() {
        ParsedLine line = parser.parse("SELECT a, millrace.qu FROM t", 21, ParseContext.COMPLETE);
        assertEquals("millrace.qu", line.word());
        assertEquals(11, line.wordCursor());
        ParsedLine end = parser.parse("SELECT * FROM ", 14, ParseContext.COMPLETE);
        assertEquals("", end.word());
        assertEquals("FROM", end.words().get(end.wordIndex() - 1));
    }
}
