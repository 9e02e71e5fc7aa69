package dev.millrace.server.sketched;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;

/** Texts in raw memory. */
final class Texts {
    private Texts() {}

    static String at(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
