package dev.millrace.expressions.function;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Remembers the text that something was prepared from, so that it is prepared again only when the text changed. */
public final class Pattern {
    private byte[] bytes = new byte[0];
    private boolean known;

    /** Takes a text over and returns whether it is another one than before. */
    public boolean changed(long address, int length) {
        if (known && length == bytes.length && isSame(address)) {
            return false;
        }
        bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        known = true;
        return true;
    }

    /** The text counts as known again. */
    public void remember() {
        known = true;
    }

    /** Forgets the text: what was to be prepared from it failed. */
    public void forget() {
        known = false;
    }

    private boolean isSame(long address) {
        for (int i = 0; i < bytes.length; i++) {
            if (Memory.getByte(address + i) != bytes[i]) {
                return false;
            }
        }
        return true;
    }

    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public byte[] bytes() {
        return Arrays.copyOf(bytes, bytes.length);
    }
}
