package dev.millrace.sql.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PackedTextTest {
    private static final List<String> PIECES = List.of(
            "SELECT ",
            "q",
            "q7",
            "'",
            "''",
            "'x'",
            "80.5",
            "7",
            " = ",
            "\0",
            "\u00fc",
            "\uD83D\uDE00",
            "\uD83D",
            ".",
            "$1",
            "\n");

    @Test
    void aTextIsGivenBackLetterByLetter() {
        for (String text : List.of(
                "",
                "q7",
                "CREATE VIEW q7 AS SELECT 1",
                "CREATE VIEW q7 AS SELECT 'it''s', '', 'q7', \"a'b\" FROM t9 WHERE a > 1.5e3 AND b = 'y'",
                "CREATE VIEW q7 AS SELECT 'open",
                "a \0 b 7",
                "a \uD83D b 7")) {
            assertEquals(text, PackedText.of(text, "q7").toString());
            assertEquals(PackedText.of(text, "q7"), PackedText.of(text, "other"));
        }
        assertNotEquals(PackedText.of("SELECT 1", "q"), PackedText.of("SELECT 2", "q"));
    }

    @Test
    void soIsAnyText() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int piece = random.nextInt(12); piece > 0; piece--) {
                text.append(PIECES.get(random.nextInt(PIECES.size())));
            }
            String name = random.nextBoolean() ? "q7" : "";
            assertEquals(text.toString(), PackedText.of(text.toString(), name).toString());
        }
    }
}
