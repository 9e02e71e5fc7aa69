package dev.millrace.server.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Where keys are depends on a secret of their table. */
class KeyPlacesTest {
    private static final int SLOTS = 1 << 10;

    private static int slots(KeyPlaces places, List<String> keys) {
        Set<Long> slots = new HashSet<>();
        keys.forEach(key -> slots.add(places.hash(key) & SLOTS - 1));
        return slots.size();
    }

    @Test
    void keysThatMeetInOneTableDoNotInAnother() {
        try (BufferAllocator allocator = new RootAllocator();
                KeyPlaces one = new KeyPlaces(allocator, 1);
                KeyPlaces another = new KeyPlaces(allocator, 2)) {
            List<String> keys = new ArrayList<>();
            for (int i = 0; keys.size() < 500; i++) {
                String key = "key " + i;
                if ((one.hash(key) & SLOTS - 1) == 7) {
                    keys.add(key);
                }
            }
            assertEquals(1, slots(one, keys));
            assertTrue(slots(another, keys) > 300, slots(another, keys) + " slots");
            assertEquals(one.hash("a"), new KeyPlaces(allocator, 1).hash(new StringBuilder("a")));
        }
    }
}
