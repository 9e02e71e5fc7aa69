package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TextDictionaryTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private StateMemory memory;
    private TextDictionary dictionary;

    @BeforeEach
    void open() {
        memory = new StateMemory(leaks.allocator());
        dictionary = new TextDictionary(leaks.allocator());
    }

    @AfterEach
    void close() {
        dictionary.close();
        memory.close();
    }

    /** The numbers of texts; one more stays as it was. */
    private int[] find(String... texts) {
        long[] addresses = new long[texts.length];
        int[] lengths = new int[texts.length];
        for (int i = 0; i < texts.length; i++) {
            byte[] bytes = texts[i].getBytes(StandardCharsets.UTF_8);
            addresses[i] = memory.allocate(bytes.length);
            lengths[i] = bytes.length;
            Memory.copyIn(bytes, 0, addresses[i], bytes.length);
        }
        int[] numbers = new int[texts.length + 1];
        numbers[texts.length] = -7;
        dictionary.find(addresses, lengths, texts.length, numbers);
        assertEquals(-7, numbers[texts.length]);
        memory.reset();
        return Arrays.copyOf(numbers, texts.length);
    }

    private String text(int number) {
        byte[] bytes = new byte[dictionary.length(number)];
        Memory.copyOut(dictionary.address(number), bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String long24(long number) {
        return "a text of " + String.format("%014d", number);
    }

    @Test
    void textsAreNumberedAsTheyCome() {
        assertArrayEquals(new int[] {0, 1, 0}, find(long24(5), long24(6), long24(5)));
        assertArrayEquals(new int[] {2, 1, 0}, find(long24(7), long24(6), long24(5)));
        assertEquals(long24(5), text(0));
        assertEquals(long24(6), text(1));
        assertEquals(long24(7), text(2));
        assertEquals(leaks.allocator().getAllocatedMemory() - memory.bytes() + 8 * (256 + 64), dictionary.bytes());
    }

    @Test
    void onlyTextsOfSomeLengthAreNumbered() {
        assertArrayEquals(new int[] {-1, -1}, find("short", "x".repeat(23)));
        assertArrayEquals(
                new int[] {-1, 0, 1, -1, 0},
                find("x".repeat(23), "x".repeat(24), "x".repeat(256), "x".repeat(257), "x".repeat(24)));
    }

    /** Texts of which the hash sees no difference are told from each other, and so are those that begin the same. */
    @Test
    void textsThatDifferAnywhereHaveNumbersOfTheirOwn() {
        String[] texts = new String[200];
        for (int at = 0; at < texts.length; at++) {
            char[] characters = "x".repeat(200).toCharArray();
            characters[at] = 'y';
            texts[at] = new String(characters);
        }
        int[] numbers = find(texts);
        int numbered = 0;
        for (int i = 0; i < texts.length; i++) {
            if (numbers[i] >= 0) {
                numbered++;
                assertEquals(texts[i], text(numbers[i]));
            }
        }
        assertTrue(
                numbered >= 60,
                numbered + " were numbered"); // those that differ where the hash looks, and a few others
        assertArrayEquals(numbers, find(texts));
    }

    /** A text may have no number because the slots where it would be are taken; few do. */
    private int numbered(String[] texts, int[] numbers) {
        int numbered = 0;
        for (int i = 0; i < texts.length; i++) {
            if (numbers[i] >= 0) {
                assertEquals(texts[i], text(numbers[i]));
                numbered++;
            }
        }
        return numbered;
    }

    private static String[] texts(int from, int count) {
        String[] texts = new String[count];
        Arrays.setAll(texts, i -> long24(from + i));
        return texts;
    }

    @Test
    void itGrowsUpToItsEndAndKeepsWhatItHas() {
        int most = -1;
        for (int from = 0; most < TextDictionary.MOST - 1; from += 200) {
            assertTrue(from < TextDictionary.MOST + 6_000);
            // Each thrice, so that it is worth its while.
            String[] texts = texts(from, 200);
            int[] numbers = find(texts);
            find(texts);
            int[] again = find(texts);
            for (int i = 0; i < texts.length; i++) {
                assertTrue(again[i] == numbers[i] || numbers[i] == -1 || again[i] == -1);
                most = Math.max(most, again[i]);
            }
            numbered(texts, again);
        }
        find(texts(1_000_000, 200)); // for which there is no room
        assertEquals(TextDictionary.MOST - 1, most);
        String[] first = texts(0, 1_000);
        assertTrue(numbered(first, find(first)) > 900);
        assertEquals(
                leaks.allocator().getAllocatedMemory() - memory.bytes() + 8 * (65_536 + 32_768), dictionary.bytes());
    }

    @Test
    void itGivesUpWhenFewTextsComeAgain() {
        int numbered = 0;
        for (int from = 0; from < 20_480; from += 64) {
            String[] texts = texts(from, 64);
            numbered += numbered(texts, find(texts));
        }
        assertTrue(numbered > 8_000 && numbered <= 8_192, numbered + " numbered"); // the first trial says little
        assertArrayEquals(new int[] {-1}, find(long24(3)));
        assertEquals(long24(3), text(3));
    }

    @Test
    void itStaysWhenHalfOfTheTextsComeAgain() {
        String[] again = texts(0, 50);
        for (int from = 0; from < 12_000; from += 50) {
            String[] texts = texts(from, 50);
            assertTrue(numbered(texts, find(texts)) > 25);
            assertEquals(50, numbered(again, find(again)));
        }
    }
}
