package dev.millrace.sql.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.text.SqlText.Open;
import dev.millrace.sql.text.SqlText.Part;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlTextTest {
    @Test
    void semicolonsInQuotesCommentsAndParenthesesDoNotSplit() {
        String sql = "select ';', \";\", $$;$$, $x$;$x$, (1;2) -- ;\n /* ; /* ; */ ; */ ; select E'\\';' ;";
        SqlText.Input input = SqlText.split(sql);
        assertEquals(
                List.of("select ';', \";\", $$;$$, $x$;$x$, (1;2)", "select E'\\';'"),
                input.statements().stream().map(Part::text).toList());
        assertEquals(sql.lastIndexOf("select"), input.statements().get(1).offset());
        assertEquals("", input.rest());
        assertEquals(Open.NOTHING, input.prompt());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "select 1|STATEMENT",
                "select 'a|STRING",
                "select \"a|QUOTED_NAME",
                "select $a$ x|DOLLAR_STRING",
                "select /* a|COMMENT",
                "/* a|COMMENT",
                "select (1|PARENTHESIS",
                "select 1;|NOTHING",
                "select 1; -- more|NOTHING",
                "select 1; select|STATEMENT",
                "select ` 2|STATEMENT"
            })
    void theRestSaysWhatIsOpen(String sql, Open open) {
        assertEquals(open, SqlText.split(sql).prompt());
    }

    @Test
    void theRestStartsBehindTheLastSemicolon() {
        SqlText.Input input = SqlText.split("select 1; select 2");
        assertEquals(" select 2", input.rest());
        assertEquals(9, input.restOffset());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "E'\\xc3\\xa4\\303\\244'|ää",
                "E'a\\x41\\101\\u0042\\U00000043'|aAABC",
                "E'\\ud83d\\ude00\\U0001f600'|😀😀",
                "U&'\\0041\\+01F600\\\\\\d83d\\de00'|A😀\\😀",
            })
    void numbersOfBytesAndOfCharactersAreATextTogether(String sql, String text) {
        assertEquals(text, Lexer.tokens(sql).get(0).text());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "E'a\\0b'|22021",
                "E'\\x00'|22021",
                "E'\\xff'|22021",
                "E'\\xc3 \\xa4'|22021",
                "E'\\u0000'|42601",
                "E'\\U00110000'|42601",
                "E'\\ud83d'|42601",
                "E'\\ud83d\\u0041'|42601",
                "E'\\ude00'|42601",
                "U&'\\0000'|42601",
                "U&'\\+110000'|42601",
                "U&'\\d83d'|42601",
                "U&'\\d83dx'|42601",
                "U&'\\00'|42601",
                "U&\"\\0000\"|42601",
            })
    void noEscapeMakesWhatIsNoText(String sql, String state) {
        MillraceException error = assertThrows(MillraceException.class, () -> Lexer.tokens("select " + sql));
        assertEquals(state, error.sqlState().code());
    }

    @Test
    void aStatementIsAText() {
        for (String sql : List.of("select 'a\0b'", "select 1\0", "select '\ud83d'", "select \"\ude00\"")) {
            MillraceException error = assertThrows(MillraceException.class, () -> Lexer.tokens(sql));
            assertEquals(SqlState.CHARACTER_NOT_IN_REPERTOIRE, error.sqlState());
        }
    }

    @Test
    void stringsContinueOverLineEndsOnly() {
        assertEquals("ab", Lexer.tokens("'a'\n  'b'").get(0).text());
        assertEquals(3, Lexer.tokens("'a' 'b'").size());
    }

    @Test
    void escapesAreRead() {
        assertEquals(
                "a\tA\u00e9\uD83D\uDE00\\'",
                Lexer.tokens("E'a\\t\\x41\\u00e9\\U0001F600\\\\\\''").get(0).text());
        assertEquals(
                "d\u00e9j\u00e0", Lexer.tokens("U&'d\\00e9j\\+0000e0'").get(0).text());
        assertEquals(
                SqlState.INVALID_ESCAPE_SEQUENCE,
                assertThrows(MillraceException.class, () -> Lexer.tokens("E'\\u12'"))
                        .sqlState());
    }

    @Test
    void operatorsEndAsInPostgres() {
        List<String> texts = Lexer.tokens("1*-2 a||-b x!~*y c->>'d' e--comment\n").stream()
                .filter(token -> token.kind() == Lexeme.Kind.OPERATOR)
                .map(Lexeme::text)
                .toList();
        assertEquals(List.of("*", "-", "||-", "!~*", "->>"), texts);
    }

    @Test
    void unquotedNamesFoldAsciiOnly() {
        assertEquals("abcÄ", Lexer.tokens("ABCÄ").get(0).text());
        assertEquals("a\"B", Lexer.tokens("\"a\"\"B\"").get(0).text());
    }

    @Test
    void namesAreQuotedWhenTheyMustBe() {
        assertEquals("plain_1", Identifiers.quote("plain_1"));
        assertEquals("\"Mixed\"", Identifiers.quote("Mixed"));
        assertEquals("\"1a\"", Identifiers.quote("1a"));
        assertEquals("\"emit\"", Identifiers.quote("emit"));
        assertEquals("\"a\"\"b\"", Identifiers.quote("a\"b"));
        assertEquals("value", Identifiers.quote("value"));
        assertEquals("millrace.\"Late\"", Identifiers.quote(List.of("millrace", "Late")));
    }

    @Test
    void caretsStandUnderTheCharacterAlsoInLongLines() {
        assertEquals("LINE 2:  tmp\n         ^", ErrorText.caret("select\n tmp\nfrom x", 9));
        String line = "select " + "a, ".repeat(100) + "tmp from x";
        String[] shown = ErrorText.caret(line, line.indexOf("tmp") + 1).split("\n");
        assertEquals("tmp", shown[0].substring(shown[1].indexOf('^')).substring(0, 3));
        assertEquals("LINE 1: x\n         ^", ErrorText.caret("x", 2));
    }

    @Test
    void completionKnowsStatementsAndReservedWords() {
        assertTrue(Keywords.all().containsAll(List.of("select", "subscribe", "emit", "watermark")));
    }
}
