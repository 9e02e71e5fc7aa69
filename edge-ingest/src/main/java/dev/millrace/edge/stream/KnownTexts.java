package dev.millrace.edge.stream;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Strings of texts that come again and again, so that they are not made anew for each row. Owned by one thread. */
final class KnownTexts {
    private static final int PLACES = 1 << 10; // a power of two
    private static final int MOST_BYTES = 256;

    private final byte[] @Nullable [] bytes = new byte[PLACES][];
    private final @Nullable String[] texts = new String[PLACES];

    String text(long address, int length) {
        if (length > MOST_BYTES) {
            return make(address, length);
        }
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + Memory.getByte(address + i);
        }
        int place = (hash ^ hash >>> 15) & PLACES - 1;
        byte[] known = bytes[place];
        String text = texts[place];
        if (known != null && text != null && known.length == length && same(known, address)) {
            return text;
        }
        String made = make(address, length);
        byte[] copy = new byte[length];
        Memory.copyOut(address, copy, 0, length);
        bytes[place] = copy;
        texts[place] = made;
        return made;
    }

    private static boolean same(byte[] known, long address) {
        for (int i = 0; i < known.length; i++) {
            if (known[i] != Memory.getByte(address + i)) {
                return false;
            }
        }
        return true;
    }

    private static String make(long address, int length) {
        byte[] copy = new byte[length];
        Memory.copyOut(address, copy, 0, length);
        return new String(copy, StandardCharsets.UTF_8);
    }
}
