package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Compares bytes with words in lower case, in any case, without making strings. */
final class WordBytes {
    private WordBytes() {}

    /** Whether the bytes begin with the word. */
    static boolean startsWith(long at, long end, String word) {
        if (end - at < word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            byte read = Memory.getByte(at + i);
            if ((c >= 'a' && c <= 'z' ? read | 0x20 : read) != c) {
                return false;
            }
        }
        return true;
    }

    /** Whether the bytes are the word. */
    static boolean equal(long at, long end, String word) {
        return end - at == word.length() && startsWith(at, end, word);
    }

    /** Whether the bytes are one of the words. */
    static boolean equalAny(long at, long end, String[] words) {
        for (String word : words) {
            if (equal(at, end, word)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the bytes, at least {@code atLeast} of them, are what the word begins with. */
    static boolean prefixOf(long at, long end, String word, int atLeast) {
        long length = end - at;
        if (length < atLeast || length > word.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if ((Memory.getByte(at + i) | 0x20) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    static boolean isLetter(long at) {
        int c = Memory.getByte(at) | 0x20;
        return c >= 'a' && c <= 'z';
    }

    static boolean isDigit(long at) {
        byte c = Memory.getByte(at);
        return c >= '0' && c <= '9';
    }
}
