package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.error.MillraceException.Fault;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.text.ErrorText;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever is done to a text, it is analysed or gives an error that a user can read. */
class MutatedTextTest {
    private static final Path FOLDER = Path.of("src/test/resources/dev/millrace/sql");
    private static final int ROUNDS = Integer.getInteger("mutations", 5_000);

    @Test
    void damagedTextsGiveErrorsForUsers() throws IOException {
        List<String> texts = new ArrayList<>();
        for (String file : List.of("nexmark", "statements", "queries", "expressions", "aggregates", "errors")) {
            texts.addAll(GoldenTest.statements(Files.readString(FOLDER.resolve(file + ".golden"))));
        }
        long seed = Long.getLong("seed", 1);
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            String text = mutate(texts.get(random.nextInt(texts.size())), texts, random);
            try {
                Frontend frontend = new Frontend();
                for (ParsedStatement statement : frontend.parse(text)) {
                    frontend.analyze(statement, new TestCatalog(), Parameters.none());
                }
            } catch (MillraceException e) {
                String shown = ErrorText.render(e, text);
                assertTrue(
                        e.fault() == Fault.USER
                                && e.position().orElse(1) <= text.length() + 1
                                && !shown.matches(
                                        "(?s).*(calcite|org\\.apache|java\\.lang|Rex[A-Z]|Rel[A-Z]|Sql[A-Z]|VALIDATOR).*"),
                        () -> "seed " + seed + ": " + text + "\n" + shown);
            } catch (RuntimeException | Error e) {
                fail("seed " + seed + ": " + text, e);
            }
        }
    }

    /** The text with a few tokens dropped, doubled, exchanged or taken from another text. */
    private static String mutate(String text, List<String> others, Random random) {
        List<String> tokens = tokens(text);
        for (int change = random.nextInt(3); change >= 0 && !tokens.isEmpty(); change--) {
            int place = random.nextInt(tokens.size());
            switch (random.nextInt(4)) {
                case 0 -> tokens.remove(place);
                case 1 -> tokens.add(place, tokens.get(place));
                case 2 -> tokens.set(place, tokens.get(random.nextInt(tokens.size())));
                default -> {
                    List<String> other = tokens(others.get(random.nextInt(others.size())));
                    if (!other.isEmpty()) {
                        tokens.set(place, other.get(random.nextInt(other.size())));
                    }
                }
            }
        }
        return String.join(" ", tokens);
    }

    private static List<String> tokens(String text) {
        List<String> tokens = new ArrayList<>();
        try {
            for (Lexeme lexeme : Lexer.tokens(text)) {
                tokens.add(text.substring(lexeme.start(), lexeme.end()));
            }
        } catch (MillraceException e) {
            tokens.add(text);
        }
        return tokens;
    }
}
