package dev.millrace.expressions.function.regex;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import org.junit.jupiter.api.Test;

class CharSetTest {
    @Test
    void classesHoldWhatTheyAreSaidToHold() {
        CharSet word = CharacterClasses.word();
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            assertEquals(CharSet.isSpace(c), CharSet.SPACE.contains(c), Integer.toHexString(c));
            assertEquals(CharSet.isWord(c), word.contains(c), Integer.toHexString(c));
        }
    }

    /** Who is stopped while a class of characters is made for the first time does not spoil it for all that come later. */
    @Test
    void whoIsStoppedLeavesClassesToOthers() {
        Interrupt interrupt = new Interrupt();
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stopped"));
        try (Interrupt.Binding binding = interrupt.bind()) {
            assertEquals(true, CharSet.SPACE.contains(' '));
            assertThrows(MillraceException.class, () -> CharSet.builder().add(Character::isLetter));
        }
        assertDoesNotThrow(() -> CharacterClasses.named("alpha", false));
    }
}
