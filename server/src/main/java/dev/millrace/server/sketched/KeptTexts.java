package dev.millrace.server.sketched;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;

/** KeptTexts in raw memory. */
final class KeptTexts {
    private KeptTexts() {}

    static String at(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
